import type { Requester } from '../domain/access.ts'
import type { FileDetail } from '../files/files.ts'
import type { Site } from '../server/call.ts'
import type { Opened } from '../sharing/access.ts'
import type { ContentTokens, ContentUse } from './content-tokens.ts'

/** As an attachment, as its own type, or as plain text. */
export type Presentation = 'download' | 'view' | 'raw'

const PARAMETERS = { download: '&download=true', view: '', raw: '&raw=true' } satisfies Record<
  Presentation,
  string
>

export function contentAddress(
  { contentUrl }: Pick<Site, 'contentUrl'>,
  tokens: ContentTokens,
  requester: Requester,
  seen: Pick<Opened<FileDetail>, 'item' | 'closed'>,
  use: ContentUse & { readonly as: Presentation },
): string {
  const { file, token } = tokens.issue(requester, seen, use)
  return `${contentUrl}/v2/${file}?token=${token}${PARAMETERS[use.as]}`
}
