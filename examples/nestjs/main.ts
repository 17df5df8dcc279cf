/** NestJS on Express. Nest adds its JSON parser in `listen`, so the webhook is mounted before that. */
import type { AddressInfo } from "node:net";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { Mirror } from "escrow-mirror";
import { expressWebhook } from "escrow-mirror/express";
import { AppModule, MIRROR, webhookPath } from "./app-module.ts";
import { logger } from "./logger.ts";

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false });
app.enableShutdownHooks();
app.use(webhookPath, expressWebhook(app.get<Mirror>(MIRROR)));
await app.listen(Number(process.env["PORT"] ?? "3000"));
logger.info({ port: (app.getHttpServer().address() as AddressInfo).port }, "listening");
