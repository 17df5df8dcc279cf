import { expect, it } from "vitest";
import { contractMachine } from "../../../src/domain/contract.ts";
import type { Machine } from "../../../src/domain/machine.ts";
import { milestoneMachine } from "../../../src/domain/milestone.ts";
import { toMermaid } from "../../../src/testing/mermaid.ts";

const small: Machine = {
  entity: "contract",
  terminal: ["Shut"],
  transitions: [
    { from: null, event: "door.made", to: "Open", source: "spec" },
    { from: "Open", event: "door.shut", to: "Shut", source: "spec" },
    { from: "Open", event: "wind.blew", to: "Shut", source: "inferred" },
    { from: "Open", event: null, to: "Ajar", source: "inferred" },
    { from: "Ajar", event: "wind.blew", to: "Shut", source: "inferred" },
  ],
};

/** The text without the indentation. */
const linesOf = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim());

it("a machine is drawn with one arrow for each pair of statuses, documented ones solid and inferred ones dashed", () => {
  expect(linesOf(toMermaid(small))).toEqual([
    "flowchart TB",
    "start(( ))",
    's0["Open"]',
    's1(["Shut"])',
    's2["Ajar"]',
    'start -->|"door.made"| s0',
    's0 -->|"door.shut<br/>wind.blew *"| s1',
    "s0 -.-> s2",
    's2 -.->|"wind.blew"| s1',
  ]);
});

it("a path highlights its statuses and the arrows between them, its beginning among them", () => {
  expect(linesOf(toMermaid(small, { path: ["Open", "Ajar", "Shut"] })).slice(-3)).toEqual([
    "classDef path fill:#ffe08a,stroke:#8a6100,stroke-width:3px,color:#000",
    "class s0,s2,s1 path",
    "linkStyle 0,2,3 stroke:#c77700,stroke-width:3px",
  ]);
});

it("a step and a status that the machine does not have are drawn too", () => {
  const lines = linesOf(toMermaid(small, { path: ["Shut", "Open", "Gone"] }));
  expect(lines).toContain('s1 ==>|"not in the machine"| s0');
  expect(lines).toContain('s0 ==>|"not in the machine"| s3');
  expect(lines).toContain('s3["Gone"]');
  expect(lines.at(-1)).toBe("linkStyle 4,5 stroke:#c77700,stroke-width:3px");
});

it("a step that a path takes twice is drawn once", () => {
  const text = toMermaid(small, { path: ["Shut", "Open", "Shut", "Open"] });
  expect(text.match(/==>/g)).toHaveLength(1);
});

it("a status of a path is known in any case, and one that stays is no step", () => {
  const path = ["Pending", "pending", "APPROVED"];
  expect(toMermaid(contractMachine, { path })).toBe(
    toMermaid(contractMachine, { path: ["pending", "Approved"] }),
  );
});

it("a path of one status in the middle highlights no arrow", () => {
  expect(toMermaid(small, { path: ["Shut"] })).not.toContain("linkStyle");
});

it("text of the service can't end the quotes or begin markup", () => {
  const text = toMermaid({ ...small, transitions: [] }, { path: ['"]; <b>\n&'] });
  expect(text).toContain('s0["#34;#93;#59; #60;b#62;#10;#38;"]');
});

it.each([contractMachine, milestoneMachine])(
  "every row of the $entity's machine is in its picture",
  (machine) => {
    const text = toMermaid(machine);
    for (const { from, to, event } of machine.transitions) {
      const idOf = (status: string | null): string =>
        status === null ? "start" : (new RegExp(`(s\\d+)\\(?\\["${status}"\\]`).exec(text)?.[1] ?? "none");
      const arrow = new RegExp(`^  ${idOf(from)} -\\.?->(.*) ${idOf(to)}$`, "m").exec(text)?.[1] ?? "none";
      if (event === null) expect(arrow).not.toBe("none");
      else expect(arrow).toContain(event);
    }
  },
);
