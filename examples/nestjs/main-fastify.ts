/** NestJS on Fastify. */
import type { AddressInfo } from "node:net";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter, type NestFastifyApplication } from "@nestjs/platform-fastify";
import type { Mirror } from "escrow-mirror";
import { fastifyWebhook } from "escrow-mirror/fastify";
import { AppModule, MIRROR, webhookPath } from "./app-module.ts";
import { logger } from "./logger.ts";

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), {
  logger: false,
});
app.enableShutdownHooks();
await app.register(fastifyWebhook, { mirror: app.get<Mirror>(MIRROR), path: webhookPath });
await app.listen(Number(process.env["PORT"] ?? "3000"));
logger.info({ port: (app.getHttpServer().address() as AddressInfo).port }, "listening");
