/** Text that is HTML already. Everything else that goes into a page is escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

export type HtmlPart = string | number | null | undefined | false | Markup | readonly HtmlPart[];

/** ``html`<p>${anything}</p>` ``: what is put in is escaped, unless it was made by `html` itself. */
export function html(strings: TemplateStringsArray, ...parts: HtmlPart[]): Markup {
  let text = strings[0] ?? "";
  for (const [index, part] of parts.entries()) text += toHtml(part) + (strings[index + 1] ?? "");
  return new Markup(text);
}

function toHtml(part: HtmlPart): string {
  if (part instanceof Markup) return part.text;
  if (part === null || part === undefined || part === false) return "";
  if (typeof part === "object") return part.map(toHtml).join("");
  return escapeHtml(String(part));
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

export interface PageOptions {
  title: string;
  styles: string;
  body: Markup;
  language?: "en" | "ar";
  script?: string;
}

export function page({ title, styles, body, language = "en", script }: PageOptions): string {
  const direction = language === "ar" ? "rtl" : "ltr";
  const head = html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="data:," />
    <style>
      ${new Markup(styles)}
    </style>`;
  const tail =
    script === undefined
      ? null
      : html`<script>
          ${new Markup(script)};
        </script>`;
  return html`<!doctype html>
    <html lang="${language}" dir="${direction}">
      <head>
        ${head}
      </head>
      <body>
        ${body} ${tail}
      </body>
    </html> `.text;
}
