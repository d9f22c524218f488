import * as z from 'zod/mini'
import { component, dataOf, described } from './fields.ts'

const legalText = described(z.nullable(z.string()), { example: 'Example Ltd, Harbour Road 1' })

const branding = component(
  'Branding',
  z.object({
    name: described(z.nullable(z.string()), {
      description: 'Of the site; null: the one of the setting, or "Holdfast"',
      example: 'Files of Example Ltd',
    }),
    accent: described(z.nullable(z.string()), {
      description: 'Colour of the one action of a page; null: the one of the setting, or ours',
      example: '#1d4ed8',
    }),
    start_text: described(z.nullable(z.string()), {
      description: 'Markdown on the start page',
      example: 'For **customers** of Example Ltd.',
    }),
    legal: described(z.object({ imprint: legalText, privacy: legalText, terms: legalText }), {
      description: 'Markdown of pages that are linked at the foot of every page, under `/legal/`',
    }),
    logo_url: described(z.nullable(z.string()), { example: '/branding/logo-2c26b46b68ffc68f.webp' }),
  }),
)
export type Branding = z.infer<typeof branding>

export const brandingAnswer = dataOf(branding)
