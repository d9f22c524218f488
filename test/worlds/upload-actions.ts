/** Uploads: in one request, in several, and by links. */
import type { Caller, ContributorCaller, Sender } from '../../src/core/callers.ts'
import { Refusal } from '../../src/domain/errors.ts'
import type { FolderPlace } from '../../src/domain/ids.ts'
import type { StoredFile } from '../../src/uploads/commit.ts'
import type { ByteSource } from '../../src/uploads/resumable/append.ts'
import { type Action, BrokenOff, isPlain, type Stage, someCaller, somePlace } from './actions.ts'
import type { KeyedUpload, ModelFile } from './model.ts'
import { LIMITS } from './services.ts'

/** What is sent: often a content that is there already, now and then more than a limit. */
export function someContent({ chance, model }: Stage): Uint8Array {
  const before = [...model.files.values()]
  if (before.length > 0 && chance.fraction() < 0.3) return chance.pick(before).content
  if (chance.fraction() < 0.05)
    return chance.bytes(chance.pick([0, LIMITS.maxFileSize, LIMITS.maxFileSize + 1]))
  return chance.bytes(chance.whole(1, 2500))
}

/** The bytes as a sender sends them, who may go away. */
export class Sending implements ByteSource {
  readonly #stage: Stage
  readonly #content: Uint8Array
  readonly #breaksAt: number
  #at: number
  #ended: Refusal | null = null

  constructor(stage: Stage, content: Uint8Array, from: number, breaksAt: number) {
    this.#stage = stage
    this.#content = content
    this.#at = from
    this.#breaksAt = breaksAt
  }

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    await this.#stage.turns.turn('sender', '')
    if (this.#ended !== null) throw this.#ended
    if (this.#at >= this.#breaksAt) throw new BrokenOff('the sender is gone')
    if (this.#at === this.#content.length) return { done: true }
    const from = this.#at
    this.#at = Math.min(this.#content.length, this.#breaksAt, from + this.#stage.chance.whole(1, 1500))
    return { done: false, value: this.#content.slice(from, this.#at) }
  }

  async cancel(): Promise<void> {}

  quietFor(): number {
    return 0
  }

  end(reason: Refusal): void {
    this.#ended = reason
  }
}

const NEVER = Number.POSITIVE_INFINITY

export function breakingAt({ chance }: Stage, length: number): number {
  return chance.fraction() < 0.15 ? chance.whole(0, length) : NEVER
}

function send(
  stage: Stage,
  by: Sender,
  { name, content }: ModelFile,
  { place, key }: { readonly place: FolderPlace; readonly key: string | null },
): Promise<StoredFile> {
  const { services, chance } = stage
  const declares = by.kind === 'contributor' || key !== null || chance.fraction() < 0.6
  const length = declares ? content.length : null
  return services.uploads.requests.receive(by, {
    folder: place === 'root' ? null : place,
    key,
    declared: length,
    answers: () => ({}),
    body: new Sending(stage, content, 0, breakingAt(stage, content.length)),
    format: {
      route: 'raw',
      least: (declared) => declared,
      async read(body, announce) {
        const size = { least: length ?? 0, most: length ?? 0 }
        const sink = await announce({ name, type: null, size, length })
        for (;;) {
          const { done, value } = await body.read()
          if (done || value === undefined) break
          await sink.write(value)
        }
        await sink.end()
      },
    },
  })
}

export const upload: Action = async (stage) => {
  const by = someCaller(stage)
  const place = somePlace(stage, by)
  const file = stage.model.coming(stage.newName('file'), by, someContent(stage), place)
  await stored(stage, file, () => send(stage, by, file, { place, key: null }))
}

/** Tells the model what came of it. What fails with nothing at fault but the request leaves nothing. */
async function stored(
  { model }: Stage,
  file: ModelFile,
  work: () => Promise<StoredFile>,
): Promise<StoredFile> {
  try {
    const answer = await work()
    if (answer.sha256 !== file.sha256) throw new Error(`${file.name} was acknowledged with another hash`)
    model.came(file, answer.uuid)
    return answer
  } catch (error) {
    if (isPlain(error)) file.mayBeThere = false
    throw error
  }
}

export const keyedUpload: Action = async (stage) => {
  const { model, chance } = stage
  // After a leap nobody can tell which keys are still good.
  const again = model.hasLeapt ? [] : model.keyed.filter(({ isBusy }) => !isBusy)
  const repeated = again.length > 0 && chance.fraction() < 0.6 ? chance.pick(again) : newKeyed(stage)
  await repeat(stage, repeated)
}

function newKeyed(stage: Stage): KeyedUpload {
  const by = someCaller(stage)
  const name = stage.newName('keyed')
  const keyed = {
    key: name,
    file: stage.model.coming(name, by, someContent(stage), 'root'),
    uuid: null,
    isBusy: false,
  }
  stage.model.keyed.push(keyed)
  return keyed
}

/** Nobody else sends it: it is not under way, whatever was killed. */
export async function repeatAlone(stage: Stage, keyed: KeyedUpload): Promise<void> {
  try {
    await repeat(stage, keyed)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'REQUEST_UNDER_WAY')
      throw new Error('its key is stuck', { cause: error })
    throw error
  }
}

async function repeat(stage: Stage, keyed: KeyedUpload): Promise<void> {
  const { file, key } = keyed
  const { model } = stage
  keyed.isBusy = true
  // A start may have told it, after a kill that let no answer through.
  const before = keyed.uuid ?? file.uuid
  if (before === null) model.mayCome(file)
  try {
    const { uuid } = await send(stage, file.by, file, { place: 'root', key })
    if (before !== null && uuid !== before && !model.hasLeapt)
      throw new Error(`${file.name} was stored again under its key`)
    if (uuid !== before) model.came(file, uuid)
    keyed.uuid = uuid
  } finally {
    keyed.isBusy = false
  }
}

export const contribute: Action = async (stage) => {
  const { model, chance, accounts } = stage
  if (model.uploadLinks.length === 0) return
  const link = chance.pick(model.uploadLinks)
  const folder = model.folders.get(link.folder)
  const owner: Caller | undefined = accounts.find((each) => each === folder?.by)
  if (owner?.kind !== 'account') return
  const by: ContributorCaller = {
    ...{ kind: 'contributor', account: owner.account, within: link.folder },
    ...{ bucket: '192.0.2.9', link: link.id },
  }
  const content = chance.bytes(chance.whole(1, 900))
  const file = model.coming(stage.newName('given'), owner, content, link.folder)
  if (link.isRevoked) file.mayBeThere = false
  await stored(stage, file, () => send(stage, by, file, { place: 'root', key: null }))
}
