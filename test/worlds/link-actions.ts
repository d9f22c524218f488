/** Made links: with a number of downloads, and for uploads. */
import type { LinkVisitor } from '../../src/domain/ids.ts'
import type { Action } from './actions.ts'

const NO_TARGETS = { files: [], folders: [], slug: null } as const

export const makeLink: Action = async ({ chance, accounts, model, services }) => {
  const by = chance.pick(accounts)
  const files = model.filesOf(by).filter(({ content, uuid }) => content.length > 0 && uuid !== null)
  if (files.length === 0) return
  const { uuid, content } = chance.pick(files)
  if (uuid === null) return
  const most = chance.whole(1, 2)
  const { link } = await services.sharing.links.make(by, {
    ...NO_TARGETS,
    files: [{ kind: 'uuid', uuid }],
    maxDownloads: most,
  })
  model.links.push({ id: link.id, most, size: content.length, sent: new Map(), doubted: 0 })
}

/** A part of a small file is sent, or all of it. */
const SHARES = [0.2, 1] as const
const VISITORS = ['one', 'two', 'three', 'four'] as const

export const download: Action = async ({ chance, accounts, model, services, turns }) => {
  if (model.links.length === 0) return
  const link = chance.pick(model.links)
  const visitor = chance.pick(VISITORS)
  const [owner] = accounts
  if (owner === undefined) return
  const claims = services.sharing.linkClaims.of(
    {
      ...{ id: link.id, account: owner.account, files: new Set(), folders: new Set(), passwordTag: null },
      ...{ isLimited: true, visitor: { visitor: visitor as LinkVisitor, program: null, isAssumed: false } },
    },
    true,
    { file: null, address: null },
  )
  if (claims === null) throw new Error('a limited link counts its downloads')
  // Without an answer the place may be taken.
  link.doubted++
  const claim = await claims.begin({ start: 0, end: link.size, whole: link.size }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'Refusal') link.doubted--
    throw error
  })
  // Bytes are on their way, however it ends.
  const share = chance.pick(SHARES)
  const sent = Math.ceil(link.size * share)
  link.sent.set(visitor, (link.sent.get(visitor) ?? 0) + sent / link.size)
  await turns.turn('sender', 'download')
  claim.end(link.size - sent)
  await services.sharing.linkClaims.flush()
  link.doubted--
}

export const makeUploadLink: Action = async ({ chance, accounts, model, services }) => {
  const by = chance.pick(accounts)
  const folders = model.foldersOf(by)
  if (folders.length === 0) return
  const folder = chance.pick(folders).id
  const mostFiles = chance.whole(1, 3)
  const { link } = await services.sharing.links.make(by, {
    ...NO_TARGETS,
    folders: [folder],
    uploads: { maxFiles: mostFiles },
  })
  model.uploadLinks.push({ id: link.id, by, slug: link.slug, folder, mostFiles, isRevoked: false })
}
