import { expect, it } from "vitest";
import { startExample } from "../../test/support/example.ts";
import { freshSchema, postgresUrl } from "../../test/support/postgres.ts";

const main = new URL("main.ts", import.meta.url);

it("two instances started at once share one mirror, and one goes on when the other stops", async () => {
  const env = { DATABASE_URL: postgresUrl, ESCROW_SCHEMA: freshSchema() };
  const [one, other] = await Promise.all([startExample(main, env), startExample(main, env)]);

  const answers = await Promise.all([one.deliver("CNT-1"), other.deliver("CNT-1"), other.deliver("CNT-2")]);
  expect(answers.map(([status]) => status)).toEqual([200, 200, 200]);
  const outcomes = answers.slice(0, 2).map(([, body]) => (body as { outcome: string }).outcome);
  expect(outcomes.sort()).toEqual(["applied", "duplicate"]);

  for (const instance of [one, other]) {
    expect(await instance.request("/contracts/CNT-1")).toMatchObject([200, { status: "pending" }]);
    expect(await instance.request("/contracts/CNT-2")).toMatchObject([200, { status: "pending" }]);
    expect(await instance.request("/health")).toMatchObject([200, { ok: true }]);
  }
  expect(await one.stop()).toBe(0);
  expect((await other.deliver("CNT-3"))[0]).toBe(200);
  expect(await other.stop()).toBe(0);
});
