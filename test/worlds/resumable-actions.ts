/** Uploads in several requests. */
import { Refusal } from '../../src/domain/errors.ts'
import { type Action, isPlain, type Stage, someCaller, somePlace } from './actions.ts'
import type { ModelFile, ModelUpload } from './model.ts'
import { breakingAt, Sending, someContent } from './upload-actions.ts'

export const beginResumable: Action = async (stage) => {
  const { model, services } = stage
  const by = someCaller(stage)
  const place = somePlace(stage, by)
  const file = model.coming(stage.newName('parts'), by, someContent(stage), place)
  const isKnown = stage.chance.fraction() < 0.7
  try {
    const { token, upload } = await services.uploads.resumable.create(by, {
      ...{
        place,
        namesFolder: place !== 'root',
        path: [],
        name: file.name,
        declaredType: null,
        metadata: '',
      },
      content: { kind: 'whole', size: isKnown ? file.content.length : null },
    })
    const known = {
      file,
      token,
      isFinal: false,
      isReserved: isKnown && by.kind === 'account',
      told: 0,
      isBusy: false,
      isOver: false,
    }
    model.uploads.push(known)
    await noteState(stage, known, upload)
  } catch (error) {
    if (isPlain(error)) file.mayBeThere = false
    throw error
  }
}

export const goOnResumable: Action = async (stage) => {
  const { model, chance } = stage
  const open = model.uploads.filter(({ isBusy, isOver }) => !isBusy && !isOver)
  if (open.length === 0) return
  const known = chance.pick(open)
  known.isBusy = true
  try {
    if (chance.fraction() < 0.05) await terminate(stage, known)
    else await goOn(stage, known, { isLast: chance.fraction() < 0.6, mayBreak: true })
  } finally {
    known.isBusy = false
  }
}

/** Sends all that is missing, and nobody breaks it off: what was reserved is enough for it. */
export async function finishResumable(stage: Stage, known: ModelUpload): Promise<void> {
  try {
    await goOn(stage, known, { isLast: true, mayBreak: false })
  } catch (error) {
    const isHonest = !known.isReserved || known.isOver || stage.model.mayVanish(known.file)
    if (!(error instanceof Refusal) || isHonest) throw error
    throw new Error(`${known.file.name} was promised room and cannot be finished`, { cause: error })
  }
  if (!known.isOver) throw new Error(`${known.file.name} has all its bytes and is not completed`)
}

async function goOn(
  stage: Stage,
  known: ModelUpload,
  { isLast, mayBreak }: { readonly isLast: boolean; readonly mayBreak: boolean },
): Promise<void> {
  const { services, chance } = stage
  const { file, token } = known
  const { resumable } = services.uploads
  try {
    const present = await resumable.atRest(file.by, token)
    assertKept(known, present.received)
    await noteState(stage, known, present)
    if (known.isOver || known.isFinal) return
    const { received } = present
    const { length } = file.content
    const end = isLast ? length : chance.whole(received, length)
    const breaksAt = mayBreak ? breakingAt(stage, end) : Number.POSITIVE_INFINITY
    const after = await resumable.append(file.by, token, {
      offset: received,
      size: present.size === null && isLast ? length : null,
      length: null,
      checksum: null,
      source: new Sending(stage, file.content.subarray(0, end), received, breaksAt),
    })
    assertKept(known, after.received)
    await noteState(stage, known, after)
  } catch (error) {
    assertNotLost(stage, known, error)
    throw error
  }
}

async function terminate({ services }: Stage, known: ModelUpload): Promise<void> {
  // Of a completed one the file stays.
  known.isOver = true
  await services.uploads.resumable.terminate(known.file.by, known.token)
}

function assertKept({ file, told }: ModelUpload, received: number): void {
  if (received < told)
    throw new Error(`${told} bytes of ${file.name} were acknowledged, ${received} are there`)
  if (received > file.content.length) throw new Error(`${file.name} has more bytes than were sent`)
}

/** Notes what an answer tells. */
export async function noteState(
  { model, services }: Stage,
  known: ModelUpload,
  { received, state, uuid }: { received: number; state: string; uuid: ModelFile['uuid'] },
): Promise<void> {
  await services.beforeAnswer()
  known.told = Math.max(known.told, received)
  if (state === 'completed' && uuid !== null) {
    known.isOver = true
    model.came(known.file, uuid)
  }
  if (state !== 'failed') return
  if (!known.isOver && !model.mayVanish(known.file))
    throw new Error(`${known.file.name} has failed by itself`)
  known.isOver = true
}

const GONE: readonly string[] = ['UPLOAD_GONE', 'UPLOAD_NOT_FOUND']

/** An upload may wait for the folder that it is to come into, end with its content or account, and by nothing else. */
function assertNotLost({ model }: Stage, known: ModelUpload, error: unknown): void {
  if (error instanceof Refusal && error.code === 'FOLDER_NOT_FOUND' && model.mayVanish(known.file)) return
  if (!(error instanceof Refusal && (GONE.includes(error.code) || error.code === 'FOLDER_NOT_FOUND'))) return
  const wasOver = known.isOver
  known.isOver = true
  if (wasOver || model.mayVanish(known.file)) return
  throw new Error(`${known.file.name} was acknowledged to ${known.told} and is lost`, { cause: error })
}
