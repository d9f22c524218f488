import type { LockedFolder } from '../sharing/access.ts'
import type { BarrierNotice } from './views.ts'

/** The folder in `chain` (outermost first) that keeps others from opening a resource. */
export function barrierOf(chain: readonly LockedFolder[]): BarrierNotice | null {
  const hiding = chain.find(({ is_public }) => is_public === 0)
  const folder = hiding ?? chain.find(({ password_hash }) => password_hash !== null)
  if (folder === undefined) return null
  const kind = folder === hiding ? 'private' : 'password'
  return { kind, folder: folder.name, manageUrl: `/files/${folder.identifier}` }
}
