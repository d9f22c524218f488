/** Uploads that are joined from parts, and folders that go to the bin and come back. */
import { type Action, isPlain, type Stage, someCaller } from './actions.ts'
import type { JoinedUpload } from './model.ts'
import { noteState } from './resumable-actions.ts'
import { Sending } from './upload-actions.ts'

/** What stands in the request's headers; only its parts count here. */
const HEADERS = { place: 'root', namesFolder: false, path: [], declaredType: null, metadata: '' } as const

/** Two parts, sent one after the other; another action joins them. */
export const sendParts: Action = async (stage) => {
  const { model, services, chance } = stage
  const by = someCaller(stage)
  const content = chance.bytes(chance.whole(2, 2000))
  const name = stage.newName('joined')
  const cut = chance.whole(1, content.length - 1)
  const tokens = []
  for (const piece of [content.subarray(0, cut), content.subarray(cut)]) {
    const { token } = await services.uploads.resumable.create(by, {
      ...{ ...HEADERS, name: `part of ${name}` },
      content: { kind: 'partial', size: piece.length, concat: 'partial' },
    })
    tokens.push(token)
    await services.uploads.resumable.append(by, token, {
      ...{ offset: 0, size: null, length: null, checksum: null },
      source: new Sending(stage, piece, 0, Number.POSITIVE_INFINITY),
    })
  }
  model.joined.push({ name, by, content, tokens, file: null, known: null, isBusy: false })
}

export const join: Action = async (stage) => {
  const { model, chance } = stage
  const open = model.joined.filter(({ isBusy, known }) => !isBusy && known === null)
  if (open.length === 0) return
  const joined = chance.pick(open)
  joined.isBusy = true
  try {
    await joinParts(stage, joined)
  } finally {
    joined.isBusy = false
  }
}

/** May be repeated after an answer that was lost: the key leads to the same upload. */
async function joinParts(stage: Stage, joined: JoinedUpload): Promise<void> {
  const { model, services } = stage
  const { name, by, content, tokens } = joined
  joined.file ??= model.coming(name, by, content, 'root')
  const { file } = joined
  model.mayCome(file)
  try {
    const { token, upload } = await services.uploads.resumable.create(by, {
      ...{ ...HEADERS, name },
      content: { kind: 'final', parts: tokens, concat: `final;${tokens.join(' ')}`, key: name },
    })
    joined.known = {
      file,
      token,
      told: 0,
      isFinal: true,
      isReserved: by.kind === 'account',
      isBusy: false,
      isOver: false,
    }
    model.uploads.push(joined.known)
    await noteState(stage, joined.known, upload)
  } catch (error) {
    // The parts end with the time of an upload, and by nothing else.
    if (isPlain(error) && !file.mayBeGone) throw new Error(`${name} was acknowledged`, { cause: error })
    throw error
  }
}

export const binFolder: Action = async ({ chance, accounts, model, services }) => {
  const by = chance.pick(accounts)
  const folders = model.foldersOf(by)
  if (folders.length === 0) return
  const folder = chance.pick(folders)
  model.dooming(folder)
  const [outcome] = await services.files.bin.put(by, [{ kind: 'folder', folder: folder.id }])
  if (outcome?.done === true) model.binned.push({ by, folder, entry: outcome.result })
}

/** Steps of a large return are a job's, so what was in the folder may be back now or later. */
export const restoreFolder: Action = async ({ chance, model, services }) => {
  if (model.binned.length === 0) return
  const { by, folder, entry } = chance.pick(model.binned)
  model.hasRestored = true
  folder.parents = new Set([...folder.parents, 'root'])
  model.returning(folder)
  await services.files.binRestoring.restore(by, [entry], null)
}
