import { z } from '@hono/zod-openapi'
import { adminRoute } from '../../route.ts'
import { dataOf } from '../fields.ts'

export const listSettings = adminRoute({
  method: 'get',
  path: '/api/v1/admin/settings',
  summary: 'List the settings in force; nothing that is secret is shown',
  answer: dataOf(
    z.array(
      z
        .object({
          name: z.string().openapi({ example: 'HOLDFAST_STORAGE_LIMIT' }),
          value: z.string().openapi({ example: '10GB' }),
          is_default: z.boolean(),
          is_secret: z.boolean(),
          description: z.string().openapi({ example: 'What the files of one account may take together.' }),
        })
        .openapi('SettingInForce'),
    ),
  ),
  async handle({ call }) {
    const data = call.site.settings.map(({ variable, value, isDefault, isSecret, description }) => ({
      name: variable,
      value,
      is_default: isDefault,
      is_secret: isSecret,
      description,
    }))
    return { success: true, data }
  },
})
