import { expect, it } from "vitest";
import { readText } from "./pages.ts";
import { picturePage, withPictures } from "./pictures.ts";

it("the pictures in the guide are what the machines say", () => {
  const page = readText(picturePage);
  expect(page.match(/^```mermaid$/gm)).toHaveLength(2);
  expect(withPictures(page)).toBe(page);
});

it("a picture that is older than its machine is drawn anew", () => {
  const page = "<!-- picture: milestone -->\nold\n<!-- /picture -->\n";
  expect(withPictures(page)).toContain("milestone.payment.completed");
  expect(withPictures(page)).not.toContain("old");
});

it("a mark that names no picture is refused", () => {
  expect(() => withPictures("<!-- picture: house -->\n<!-- /picture -->")).toThrow(
    "there is no picture house",
  );
});
