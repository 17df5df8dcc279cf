/** What a contract of any length costs, and that its length changes nothing in what comes out. */
import { sqlite } from "../../../../src/store/sqlite/store.ts";
import { describeLongLives } from "../../../support/long-life.ts";
import { temporaryFile } from "../../../support/mirror.ts";

describeLongLives("an SQLite file", () => sqlite(temporaryFile()));
describeLongLives("SQLite in memory", () => sqlite(":memory:"));
