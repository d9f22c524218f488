import type { LockedFolder } from '../../services/access.ts'
import type { Barrier } from './views.ts'

/** What keeps others from opening something that the folders of `chain` lead to, the outermost first. */
export function barrierOf(chain: readonly LockedFolder[]): Barrier | null {
  const hiding = chain.find(({ is_public }) => is_public === 0)
  const folder = hiding ?? chain.find(({ password_hash }) => password_hash !== null)
  if (folder === undefined) return null
  const kind = folder === hiding ? 'private' : 'password'
  return { kind, folder: folder.name, manageUrl: `/files/${folder.identifier}` }
}
