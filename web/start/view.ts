import { fill, type Words } from '../shared/words.ts'
import type { StartAppTexts } from './texts.ts'
import {
  type Deletion,
  isActive,
  type OtherFile,
  type Pace,
  type UploadItem,
  type Uploads,
} from './upload-item.ts'
import type { Problem, Reason } from './verdict.ts'

/** What the page says of uploads, in the words of its reader. */
export interface View {
  readonly texts: StartAppTexts
  readonly words: Words
  percent(part: { readonly sent: number; readonly size: number }): string
  /** One line on how an upload is. */
  state(item: UploadItem): string
  /** One line on how all of them are together; why, where none of them moves. */
  total(uploads: Uploads): string
  /** What happens with them, in a few words: what moves, what waits, what is done and what is not. */
  headline(uploads: Uploads): string
  /** The title of the page while something is under way; null otherwise. */
  title(uploads: Uploads): string | null
  /** That what was chosen is not the file of an interrupted upload. */
  otherFile(item: Pick<UploadItem, 'name' | 'size'>, other: OtherFile): string
}

export function createView(
  { texts, locale }: { readonly texts: StartAppTexts; readonly locale: string },
  words: Words,
): View {
  const percents = new Intl.NumberFormat(locale, { style: 'percent' })
  const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

  function percent({ sent, size }: { readonly sent: number; readonly size: number }): string {
    // All of it is not said before the server has said so.
    return percents.format(size === 0 ? 0 : Math.min(0.99, Math.floor((sent / size) * 100) / 100))
  }

  function progress({ sent, size }: { readonly sent: number; readonly size: number }, pace: Pace): string {
    const parts = [fill(texts.states.sending, { sent: words.size(sent), size: words.size(size) })]
    if (pace.isStalled) parts.push(texts.states.stalled)
    else {
      if (pace.speed !== null) parts.push(fill(texts.speed, { size: words.size(Math.round(pace.speed)) }))
      if (pace.left !== null) parts.push(left(pace.left))
    }
    return parts.join(' · ')
  }

  /** In steps that do not change with every look. */
  function left(seconds: number): string {
    if (seconds < 10) return texts.fewSecondsLeft
    if (seconds <= 50) return words.count(Math.ceil(seconds / 10) * 10, texts.secondsLeft)
    const minutes = Math.ceil(seconds / 60)
    if (minutes < 90) return words.count(minutes, texts.minutesLeft)
    return words.count(Math.ceil(minutes / 60), texts.hoursLeft)
  }

  function problem(it: Problem, { size }: { readonly size: number }): string {
    const { problems } = texts
    switch (it.kind) {
      case 'too-large':
        return fill(problems.tooLarge, { size: words.size(size), limit: words.size(it.limit) })
      case 'guests-off':
        return problems.guestsOff
      case 'account-full':
        return fill(problems.accountFull, { size: words.size(size) })
      case 'signed-out':
        return problems.signedOut
      case 'not-allowed':
        return problems.notAllowed
      case 'content-refused':
        return problems.contentRefused
      case 'folder-gone':
        return problems.folderGone
      case 'not-stored':
        return problems.notStored
      case 'changed':
        return problems.changed
      case 'expired':
        return problems.expired
      case 'proxy':
        return problems.proxy
      case 'refused':
        return fill(problems.refused, { code: it.code })
    }
  }

  function waiting(reason: Reason, until: number): string {
    return fill(texts.states.waiting[reason], { time: time.format(until) })
  }

  function done(deletion: Deletion | null, size: number): string {
    const { states } = texts
    if (deletion === 'asked') return states.deletionAsked
    if (deletion === 'under way') return states.deleting
    if (deletion === 'failed') return states.deletionFailed
    return fill(states.done, { size: words.size(size) })
  }

  function headline({ items, total }: Uploads): string {
    const active = items.filter(isActive)
    if (standstill({ items, total }) !== null) return words.count(active.length, texts.waiting)
    if (active.length > 0) return `${words.count(active.length, texts.uploading)} · ${percent(total)}`
    const are = (kind: UploadItem['state']['kind']) => items.filter(({ state }) => state.kind === kind).length
    const [well, badly] = [are('done'), are('failed')]
    const parts = [
      ...(well > 0 ? [words.count(well, texts.uploaded)] : []),
      ...(badly > 0 ? [words.count(badly, texts.notUploaded)] : []),
    ]
    return well + badly < items.length || parts.length === 0
      ? words.count(items.length, texts.files)
      : parts.join(' · ')
  }

  /** Why nothing moves, where all that is under way waits. */
  function standstill({ items }: Uploads): string | null {
    const first = items.find(({ state }) => state.kind === 'waiting')
    if (first?.state.kind !== 'waiting' || items.some(isMoving)) return null
    return waiting(first.state.reason, first.state.until)
  }

  function state(item: UploadItem): string {
    const { states } = texts
    switch (item.state.kind) {
      case 'starting':
        return item.state.isSlow ? states.startingSlow : states.starting
      case 'queued':
        return states.queued
      case 'sending':
        return progress(item, item.state.pace)
      case 'waiting':
        return waiting(item.state.reason, item.state.until)
      case 'paused':
        return fill(states.paused, { percent: percent(item) })
      case 'interrupted': {
        const text = item.state.hasHandle ? states.interruptedWithHandle : states.interrupted
        return fill(text, { percent: percent(item) })
      }
      case 'processing':
        return states.processing
      case 'done':
        return done(item.state.deletion, item.size)
      case 'deleted':
        return states.deleted
      case 'failed':
        return problem(item.state.problem, item)
      case 'cancelled':
        return states.cancelled
    }
  }

  return {
    texts,
    words,
    percent,
    state,
    total: (uploads) => standstill(uploads) ?? progress(uploads.total, uploads.total.pace),
    headline,
    title(uploads) {
      if (!uploads.total.isActive || uploads.total.size === 0) return null
      return standstill(uploads) === null ? percent(uploads.total) : headline(uploads)
    },
    otherFile({ name, size }, other) {
      if (other.isNewer) return fill(texts.otherVersion, { name })
      const sizes = { size: words.size(size), otherSize: words.size(other.size) }
      return fill(texts.otherFile, { name, other: other.name, ...sizes })
    },
  }
}

function isMoving({ state }: UploadItem): boolean {
  return state.kind === 'starting' || state.kind === 'sending' || state.kind === 'processing'
}
