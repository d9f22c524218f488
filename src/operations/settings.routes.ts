import { settingsAnswer } from '../contract/operations.ts'
import { adminEndpoint } from '../server/endpoint.ts'
import type { OperationsPart } from './operations.part.ts'

export const listSettingsEndpoint = adminEndpoint({
  summary: 'List the settings in force; nothing that is secret is shown',
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
