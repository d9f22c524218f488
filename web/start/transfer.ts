import { RequestFailure } from './answers.ts'
import type { ChunkSize } from './chunk-size.ts'
import type { KeptUpload, KeptUploads } from './kept-uploads.ts'
import type { Line } from './line.ts'
import { createUpload, type Destination, lookAtUpload, takeBack } from './server.ts'
import type { Turns } from './turns.ts'
import { judge, type Problem, type Reason } from './verdict.ts'

/** What all uploads of the page share. */
export interface Way {
  readonly to: Destination
  readonly kept: KeptUploads
  readonly chunks: ChunkSize
  /** Bytes that one file may have. */
  readonly limit: number
  /** Making links and sending bytes are waited for apart: a used-up limit of links does not hold bytes back. */
  readonly creating: { readonly line: Line; readonly turns: Turns }
  readonly sending: { readonly line: Line; readonly turns: Turns }
}

/** What is told on the way. */
export interface Listener {
  stage(stage: 'starting' | 'queued' | 'sending' | 'processing'): void
  waiting(reason: Reason, until: number): void
  link(link: string): void
  sent(bytes: number): void
}

/** The upload is over, and why. */
export class UploadOver extends Error {
  override readonly name = 'UploadOver'

  constructor(readonly problem: Problem) {
    super(problem.kind)
  }
}

/**
 * Brings one upload to its end, however often it is interrupted on the way: `done` means that the file is safe on the
 * server's disk, `stopped` that `signal` was aborted. Throws UploadOver.
 */
export async function transfer(
  way: Way,
  id: string,
  signal: AbortSignal,
  listener: Listener,
): Promise<'done' | 'stopped'> {
  for (;;) {
    const end = await (isCreated(way, id) ? bringOver() : begin())
    if (end === 'done' || end === 'stopped') return end
    if (end === 'anew') loseAddress()
  }

  /** It has to begin anew, which it cannot when only whoever began it knows where it was to go. */
  function loseAddress(): void {
    if (way.kept.find(id)?.created?.isTakenOver) throw new UploadOver({ kind: 'expired' })
    way.kept.setCreated(id, null)
  }

  async function begin(): Promise<'begun' | 'stopped'> {
    listener.stage('queued')
    const turn = await way.creating.turns.take(signal)
    if (turn !== null) listener.stage('starting')
    try {
      const created = await persist(way.creating.line, () => createOnce(way, id))
      if (created === null || created === 'anew') return 'stopped'
      listener.link(created.link)
      return 'begun'
    } finally {
      turn?.()
    }
  }

  async function bringOver(): Promise<'done' | 'anew' | 'stopped'> {
    listener.stage('queued')
    const turn = await way.sending.turns.take(signal)
    const stuck = createStuckness(way)
    try {
      return (await persist(way.sending.line, () => attempt(stuck))) ?? 'stopped'
    } finally {
      turn?.()
    }
  }

  /** Asks how far it is, sends the rest, and sees it stored. */
  async function attempt(stuck: Stuckness): Promise<'done' | 'anew' | 'stopped'> {
    const upload = way.kept.find(id)
    if (upload?.created == null || upload.file === null) return 'stopped'
    const { address } = upload.created
    let seen = await lookAtUpload(way.to, address)
    way.sending.line.works()
    if (seen.status === 'uploading') {
      listener.sent(seen.received)
      listener.stage('sending')
      stuck.at(seen.received, upload.size)
      await way.kept.send(id, signal, listener.sent)
      if (signal.aborted) return 'stopped'
      seen = await lookAtUpload(way.to, address)
    }
    for (
      let pause = 250;
      seen.status === 'processing' && !signal.aborted;
      pause = Math.min(2000, pause * 2)
    ) {
      listener.sent(upload.size)
      listener.stage('processing')
      await rest(pause, signal)
      seen = await lookAtUpload(way.to, address)
    }
    if (seen.status === 'failed') {
      loseAddress()
      throw new UploadOver({ kind: 'not-stored' })
    }
    if (seen.status === 'completed') return 'done'
    if (signal.aborted) return 'stopped'
    // It was all sent, and is not all there: whoever answered was not the server.
    throw new RequestFailure(null)
  }

  /** Null when `signal` was aborted. */
  async function persist<T>(line: Line, ask: () => Promise<T>): Promise<T | 'anew' | null> {
    for (;;) {
      await line.open(signal)
      if (signal.aborted) return null
      try {
        const answer = await ask()
        line.works()
        return answer
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error
        if (signal.aborted) return null
        if ((await settle(line, error)) === 'anew') return 'anew'
      }
    }
  }

  /** Does what the failure calls for; returns when it may be tried again. */
  async function settle(line: Line, { answer }: RequestFailure): Promise<'again' | 'anew'> {
    const upload = way.kept.find(id)
    if (answer === null) await assertReadable(upload)
    const verdict = judge(answer, { limit: way.limit, isOnline: navigator.onLine })
    switch (verdict.kind) {
      case 'anew':
        return 'anew'
      case 'over':
        throw new UploadOver(verdict.problem)
      case 'smaller':
        if (!refusedBody(way, upload)) throw new UploadOver({ kind: 'proxy' })
        return 'again'
      case 'again':
        if (answer?.status === 409 || answer?.status === 423) {
          // It concerns this upload alone: an earlier connection has not been given up yet.
          await rest((verdict.seconds ?? 1) * 1000, signal)
        } else {
          listener.waiting(verdict.reason, line.failed(verdict.seconds))
        }
        return 'again'
    }
  }
}

function isCreated(way: Way, id: string): boolean {
  return way.kept.find(id)?.created != null
}

async function createOnce(way: Way, id: string) {
  const upload = way.kept.find(id)
  if (upload === null) return null
  const created = await createUpload(way.to, upload)
  if (way.kept.find(id) !== null) {
    way.kept.setCreated(id, created)
    return created
  }
  // It was given up meanwhile.
  await takeBack(way.to, created)
  return null
}

interface Stuckness {
  /** A request begins at this offset. */
  at(offset: number, size: number): void
}

/**
 * Some that refuse a large body close the connection instead of saying so, or give up before they have passed it on.
 * Where three requests in succession got nothing across, the next is smaller.
 */
function createStuckness({ chunks }: Way): Stuckness {
  let last = -1
  let times = 0
  return {
    at(offset, size) {
      times = offset === last ? times + 1 : 0
      last = offset
      if (times < 3) return
      chunks.refused(Math.min(chunks.current(), size - offset))
      times = 0
    },
  }
}

/** False when less is no use. */
function refusedBody({ chunks }: Way, upload: KeptUpload | null): boolean {
  if (upload === null) return true
  return chunks.refused(Math.min(chunks.current(), upload.size))
}

/** A file that can no longer be read looks to the sender as a network that is gone. */
async function assertReadable(upload: KeptUpload | null): Promise<void> {
  try {
    await upload?.file?.slice(0, 1).arrayBuffer()
  } catch {
    throw new UploadOver({ kind: 'changed' })
  }
}

export function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
  })
}
