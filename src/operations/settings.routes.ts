import { settingsAnswer } from '../contract/operations.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import type { OperationsPart } from './operations.part.ts'

export const listSettingsEndpoint = adminEndpoint({
  summary: 'List settings',
  description: 'Those in force, without secrets.',
  answer: settingsAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const data = operations.settings.map(({ variable, value, isDefault, isSecret, description }) => ({
      name: variable,
      value,
      is_default: isDefault,
      is_secret: isSecret,
      description,
    }))
    return { success: true, data }
  },
})
