import { z } from '@hono/zod-openapi'
import { openRoute } from '../route.ts'

export const getOpenApi = openRoute({
  method: 'get',
  path: '/api/v1/openapi.json',
  summary: 'This document',
  tag: 'Health',
  answer: z.looseObject({ openapi: z.string() }),
  async handle({ call }) {
    return call.site.openApiAnswer()
  },
})
