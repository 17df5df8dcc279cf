/** What the tests ask the page itself. Text, since it runs in the browser and knows the browser's types. */

/** The contrast of each text against the first opaque background behind it (WCAG 1.4.3). */
export const contrasts = `(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const channel = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const behind = (element) => {
    if (element === null) return [255, 255, 255];
    const color = parse(getComputedStyle(element).backgroundColor);
    return color.length === 3 || color[3] === 1 ? color : behind(element.parentElement);
  };
  return [...document.querySelectorAll("p, h1, h2, h3, th, td, dt, dd, a, button, label, code, .badge")].map((element) => {
    const pair = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  });
})()`;

/** How many fields and buttons a screen reader could not name. */
export const unnamedControls = `[...document.querySelectorAll("input:not([type=hidden]), button")].filter((control) =>
  (control.labels?.length ?? 0) === 0 && !control.hasAttribute("aria-label") && control.textContent.trim() === "").length`;

export const scrollWidth = "document.documentElement.scrollWidth";

/** Buttons, links and fields of which a part lies outside the page or what surrounds them. */
export const cutOff = `[...document.querySelectorAll("a, button, input:not([type=hidden])")].filter((control) => {
  const { left, right, width } = control.getBoundingClientRect();
  return width > 0 && (left < 0 || right > document.documentElement.clientWidth);
}).map((control) => control.textContent.trim() || control.name)`;
