/**
 * Draws the page anew when the sandbox has changed, with open details, focus and typed values kept. Without it the
 * page works as well; one reloads it by hand.
 */
export const controlScript = `
const follow = document.getElementById("follow");
let content = document.getElementById("content");
/** A redraw would take the field away that one types into, or the button between its press and its click. */
const inUse = () => content.matches(":active, :has(input:not([type=hidden]):focus)");
const mayRedraw = () => follow.checked && !document.hidden && !inUse();
async function redraw() {
  const text = await (await fetch(location.pathname + location.search)).text();
  if (!mayRedraw()) return;
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("content");
  for (const details of content.querySelectorAll("details[open]")) fresh.querySelector("#" + CSS.escape(details.id))?.setAttribute("open", "");
  for (const { name, value, defaultValue } of content.querySelectorAll("input:not([type=hidden])")) {
    if (value !== defaultValue) fresh.querySelector("[name=" + name + "]").value = value;
  }
  const label = document.activeElement?.getAttribute("aria-label");
  content.replaceWith(fresh);
  content = fresh;
  if (label) content.querySelector("[aria-label=" + JSON.stringify(label) + "]")?.focus();
}
async function look() {
  try {
    const { data } = await (await fetch("/_sandbox/version")).json();
    if (String(data.version) !== content.dataset.version && mayRedraw()) await redraw();
  } catch { /* The sandbox is being restarted: the next look finds it. */ }
  setTimeout(look, 1000);
}
setTimeout(look, 1000);
`;
