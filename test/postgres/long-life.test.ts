import { describeLongLives } from "../support/long-life.ts";
import { postgresStore } from "../support/postgres.ts";
import { describeSharedRefunds } from "../support/shared-refunds.ts";

describeLongLives("Postgres", () => postgresStore());
describeSharedRefunds("Postgres", () => postgresStore());
