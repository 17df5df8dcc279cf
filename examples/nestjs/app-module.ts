/** For both platforms: the mirror as a provider, and a controller that reads it. */
import {
  Body,
  Controller,
  Get,
  Inject,
  Module,
  NotFoundException,
  Param,
  Post,
  ServiceUnavailableException,
  type OnApplicationShutdown,
} from "@nestjs/common";
import { createMirror, type Mirror } from "escrow-mirror";
import { sqlite } from "escrow-mirror/sqlite";
import { logger } from "./logger.ts";

export const MIRROR = Symbol("escrow-mirror");
export const webhookPath = "/webhooks/escrow";

const mirrorProvider = {
  provide: MIRROR,
  useFactory: (): Promise<Mirror> => {
    const { ESCROW_WEBHOOK_SECRET = "", ESCROW_DATABASE = "escrow.db" } = process.env;
    return createMirror({
      store: sqlite(ESCROW_DATABASE),
      webhook: { secrets: ESCROW_WEBHOOK_SECRET },
      logger,
    });
  },
};

@Controller()
export class ShopController {
  constructor(@Inject(MIRROR) private readonly mirror: Mirror) {}

  @Get("health")
  async health() {
    const health = await this.mirror.health();
    if (!health.ok) throw new ServiceUnavailableException(health);
    return health;
  }

  @Get("contracts/:id")
  async contract(@Param("id") id: string) {
    const contract = await this.mirror.contracts.get(id);
    if (contract === undefined) throw new NotFoundException("no such contract");
    return contract;
  }

  @Post("orders")
  order(@Body() order: unknown) {
    return { order };
  }
}

@Module({ providers: [mirrorProvider], controllers: [ShopController] })
export class AppModule implements OnApplicationShutdown {
  constructor(@Inject(MIRROR) private readonly mirror: Mirror) {}

  /** Nest calls this when the server has ended. The mirror waits for running handlers. */
  onApplicationShutdown(): Promise<void> {
    return this.mirror.close();
  }
}
