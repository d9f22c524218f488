/** Made links, as their owners handle them. */
import { z } from 'zod'
import { createSigning } from '../../../src/core/hmac.ts'
import type { Database } from '../../../src/database/database.ts'
import type { FileId, LinkSlug } from '../../../src/domain/ids.ts'
import { createLinkNames, linkPath } from '../../../src/sharing/links/link-access.ts'
import { type At, api } from './public.ts'

export interface LinkFields {
  readonly files?: readonly (string | number)[]
  readonly folders?: readonly string[]
  readonly name?: string | null
  readonly message?: string | null
  readonly slug?: string
  readonly password?: string | null
  readonly ends_at?: string | null
  readonly max_downloads?: number | null
  readonly uploads?: Readonly<Record<string, unknown>> | null
}

const made = z.object({ data: z.object({ slug: z.string() }) })

/** Makes a link and returns its slug. */
export async function makeLink(host: At, key: string, fields: LinkFields): Promise<string> {
  const { status, body } = await api(host, key, 'POST', '/api/v1/links', fields)
  if (status !== 201) throw new Error(`making a link answered ${status}: ${JSON.stringify(body)}`)
  return made.parse(body).data.slug
}

export async function changeLink(host: At, key: string, slug: string, fields: LinkFields): Promise<void> {
  const { status, body } = await api(host, key, 'PATCH', `/api/v1/links/${slug}`, fields)
  if (status !== 200) throw new Error(`changing a link answered ${status}: ${JSON.stringify(body)}`)
}

export async function revokeLink(host: At, key: string, slug: string): Promise<void> {
  const { status, body } = await api(host, key, 'DELETE', `/api/v1/links/${slug}`)
  if (status !== 200) throw new Error(`revoking a link answered ${status}: ${JSON.stringify(body)}`)
}

/** Path of the file's page below the link, which tells it on a page. */
export async function linkedFile(
  { database }: { readonly database: Database },
  slug: string,
  { file_id }: { readonly file_id: number },
): Promise<string> {
  const link = await database
    .selectFrom('links')
    .select('id')
    .where('slug', '=', slug as LinkSlug)
    .executeTakeFirstOrThrow()
  const secret = await database
    .selectFrom('meta')
    .select('value')
    .where('key', '=', 'link_secret')
    .executeTakeFirstOrThrow()
  const names = createLinkNames(createSigning(secret.value))
  return linkPath(slug as LinkSlug, names.of(link.id, { kind: 'file', id: file_id as FileId }))
}
