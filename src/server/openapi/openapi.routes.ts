import { openApiAnswer } from '../../contract/health.ts'
import { openEndpoint } from '../endpoint.ts'

export const getOpenApiEndpoint = openEndpoint({
  summary: 'Get the OpenAPI document',
  tag: 'Health',
  answer: openApiAnswer,
  async handle({ call }) {
    return call.site.openApiAnswer()
  },
})
