import type { Sender } from '../../core/callers.ts'
import type { Signing } from '../../core/hmac.ts'
import type { UploadToken } from '../../domain/ids.ts'
import { makeUploadToken, type Random } from '../../domain/random.ts'
import type { ContentInParts, NewUpload } from './new-upload.ts'

interface TokenSources {
  readonly signing: Signing
  readonly random: Random
}

/** Derived from the request: a repetition finds the upload, since parts can be claimed but once. */
export function repeatableToken(
  sources: TokenSources,
  caller: Sender,
  request: NewUpload,
): UploadToken | null {
  const { content, metadata } = request
  if (content.kind === 'whole' || content.kind === 'partial' || content.key === null) return null
  if (content.kind === 'in parts') return tokensInParts(sources, caller, request, content).whole
  return finalToken(content.key, content.parts, metadata)
}

/** As secret as the parts' own tokens. */
export function finalToken(key: string, parts: readonly UploadToken[], metadata: string): UploadToken {
  return tokenFrom(JSON.stringify(['final upload', key, parts, metadata]))
}

/** Derived from the server's secret too, so that guessing a request's key reveals nothing. */
export function tokensInParts(
  { signing, random }: TokenSources,
  caller: Sender,
  { metadata, place }: NewUpload,
  { key, lengths }: ContentInParts,
): { readonly whole: UploadToken; readonly parts: readonly UploadToken[] } {
  const sender = caller.kind === 'account' ? caller.account : caller.bucket
  const seed =
    key === null
      ? makeUploadToken(random)
      : signing.sign('upload in parts', [sender, key, place, metadata, lengths])
  return {
    whole: tokenFrom(`whole\n${seed}`),
    parts: lengths.map((_, part) => tokenFrom(`part ${part}\n${seed}`)),
  }
}

function tokenFrom(secret: string): UploadToken {
  return Bun.SHA256.hash(secret, 'hex').slice(0, 32) as UploadToken
}
