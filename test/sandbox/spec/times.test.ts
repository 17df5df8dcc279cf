import { describe, expect, it } from "vitest";

import { at, connect, contractBody, milestones, seller, startSandbox } from "../support.ts";
import type { Answered, Api } from "../support.ts";

/** Every time in a request is read by one reader: UTC with a Z, of a day and an hour that exist. */
const wrong = [
  ["30 February", "2027-02-30T00:00:00Z"],
  ["29 February of a common year", "2027-02-29T00:00:00Z"],
  ["29 February of a century", "2100-02-29T12:00:00Z"],
  ["31 April", "2027-04-31T00:00:00Z"],
  ["month 13", "2027-13-01T00:00:00Z"],
  ["month 0", "2027-00-10T00:00:00Z"],
  ["day 0", "2027-01-00T00:00:00Z"],
  ["24:00", "2027-01-31T24:00:00Z"],
  ["25:00", "2027-01-31T25:00:00Z"],
  ["minute 60", "2027-01-31T10:60:00Z"],
  ["second 60", "2027-01-31T10:00:60Z"],
  ["an offset", "2027-01-31T10:00:00+03:00"],
  ["an offset of zero", "2027-01-31T10:00:00+00:00"],
  ["no zone", "2027-01-31T10:00:00"],
  ["a small z", "2027-01-31T10:00:00z"],
  ["a date alone", "2027-01-31"],
  ["29 February of a common year, a date alone", "2026-02-29"],
  ["a space for the T", "2027-01-31 10:00:00Z"],
  ["no hour", "2027-01-31TZ"],
  ["a fraction without digits", "2027-01-31T10:00:00.Z"],
  ["a comma for the point", "2027-01-31T10:00:00,5Z"],
  ["a short year", "27-01-31T10:00:00Z"],
  ["white space around it", " 2027-01-31T10:00:00Z"],
  ["a line feed at its end", "2027-01-31T10:00:00Z\n"],
  ["digits of another script", "٢٠٢٧-01-31T10:00:00Z"],
  ["a word", "tomorrow"],
  ["nothing", ""],
  ["milliseconds since 1970", 1_800_000_000_000],
] as const;

const right = [
  "2028-02-29T00:00:00Z",
  "2000-02-29T23:59:59Z",
  "2027-12-31T23:59:59.9999999Z",
  "2027-01-31T10:00Z",
  "1960-05-01T00:00:00Z",
];

interface Place {
  field: string;
  send: (api: Api, time: unknown) => Promise<Answered>;
}

const user = { phoneNumber: "+966511111111", firstName: "Dana", lastName: "Omar" };
const places: Place[] = [
  {
    field: "Milestones[1].DueDate",
    send: (api, DueDate) =>
      api.post(
        "/apps/api/contracts",
        contractBody({ Milestones: [milestones[0], { ...milestones[1], DueDate }] }),
      ),
  },
  {
    field: "SellerParty.KYC.dateOfBirth",
    send: (api, dateOfBirth) =>
      api.post(
        "/apps/api/contracts",
        contractBody({ SellerParty: { ...seller, KYC: { ...seller.KYC, dateOfBirth } } }),
      ),
  },
  {
    field: "BuyerParty.KYC.dateOfBirth",
    send: (api, dateOfBirth) =>
      api.post(
        "/apps/api/contracts",
        contractBody({ BuyerParty: { ...user, KYC: { identity: "1012345678", dateOfBirth } } }),
      ),
  },
  { field: "dateOfBirth", send: (api, dateOfBirth) => api.post("/apps/api/user", { ...user, dateOfBirth }) },
];

describe.each(places)("a time in $field", ({ field, send }) => {
  it.each(wrong)("is refused: %s", async (_what, time) => {
    const sandbox = await startSandbox();
    const { status, body } = await send(await connect(sandbox), time);
    expect([status, at(body, "validationErrors.0.field"), at(body, "validationErrors.1")]).toEqual([
      400,
      field,
      undefined,
    ]);
    expect(await sandbox.contracts.list()).toEqual([]);
  });

  it.each(right)("is taken: %s", async (time) => {
    const sandbox = await startSandbox();
    expect((await send(await connect(sandbox), time)).status).toBe(200);
  });
});
