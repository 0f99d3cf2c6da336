/**
 * NestJS: npm install paylink-webhooks, and save this as src/paylink.controller.ts, with orders.mjs beside it as src/orders.ts. Add
 * PaylinkController to the controllers of AppModule. In src/main.ts, NestFactory.create(AppModule, { rawBody: true }) keeps the bytes
 * of the body, which verify() needs. On Fastify, new FastifyAdapter() stands before the options; the request of @Req() is passed as it is.
 */
import { Controller, HttpCode, HttpException, Post, Req } from "@nestjs/common";
import type { RawBodyRequest } from "@nestjs/common";
import type { Request } from "express";
import { createVerifier, WebhookError } from "paylink-webhooks";
import { book } from "./orders";

const verify = createVerifier({ key: process.env.PAYLINK_WEBHOOK_KEY });

@Controller("webhooks")
export class PaylinkController {
  @Post("paylink")
  @HttpCode(200)
  async receive(@Req() request: RawBodyRequest<Request>): Promise<void> {
    try {
      const webhook = await verify(request);
      book(webhook);
      console.log(webhook.outcome, webhook.transaction.reference);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      console.warn(error.message);
      throw new HttpException({ ...error.problem }, error.status);
    }
  }
}
