/**
 * Draws the page anew when the sandbox has changed, with open details, focus and typed values kept. Without it the
 * page works as well; one reloads it by hand.
 */
export const controlScript = `
const follow = document.getElementById("follow");
let content = document.getElementById("content");
const edited = () => content.contains(document.activeElement) && document.activeElement.matches("input:not([type=hidden])");
async function redraw() {
  const text = await (await fetch("/_sandbox/")).text();
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("content");
  for (const details of content.querySelectorAll("details[open]")) fresh.querySelector("#" + CSS.escape(details.id))?.setAttribute("open", "");
  const label = document.activeElement?.getAttribute("aria-label");
  content.replaceWith(fresh);
  content = fresh;
  if (label) content.querySelector("[aria-label=" + JSON.stringify(label) + "]")?.focus();
}
setInterval(async () => {
  if (!follow.checked || document.hidden || edited()) return;
  try {
    const { data } = await (await fetch("/_sandbox/version")).json();
    if (String(data.version) !== content.dataset.version) await redraw();
  } catch { /* The sandbox is being restarted: the next turn finds it. */ }
}, 1000);
`;
