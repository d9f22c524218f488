import { fill, type Words } from '../../shared/words.ts'
import type { StartAppTexts } from '../texts.ts'
import {
  type DeletionState,
  isActive,
  type OtherFile,
  type Pace,
  type UploadItem,
  type Uploads,
} from '../upload-item.ts'
import type { Reason, UploadProblem } from '../verdict.ts'

interface Share {
  readonly sent: number
  readonly size: number
}

export class View {
  readonly texts: StartAppTexts
  readonly words: Words
  readonly showsLinks: boolean
  readonly locale: string
  readonly #percents: Intl.NumberFormat
  readonly #time: Intl.DateTimeFormat

  constructor(
    { texts, locale }: { readonly texts: StartAppTexts; readonly locale: string },
    words: Words,
    showsLinks = true,
  ) {
    this.showsLinks = showsLinks
    this.locale = locale
    this.texts = texts
    this.words = words
    this.#percents = new Intl.NumberFormat(locale, { style: 'percent' })
    this.#time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
  }

  percent({ sent, size }: Share): string {
    // Never 100 % before the server has confirmed.
    return this.#percents.format(size === 0 ? 0 : Math.min(0.99, Math.floor((sent / size) * 100) / 100))
  }

  state(item: UploadItem): string {
    const { states } = this.texts
    switch (item.state.kind) {
      case 'starting':
        return item.state.isSlow ? states.startingSlow : states.starting
      case 'queued':
        return states.queued
      case 'sending':
        return this.#progress(item, item.state.pace, item.state.isAgain)
      case 'waiting':
        return this.#waiting(item.state.reason, item.state.until)
      case 'paused':
        return fill(states.paused, { percent: this.percent(item) })
      case 'interrupted': {
        const text = item.state.hasHandle ? states.interruptedWithHandle : states.interrupted
        return fill(text, { percent: this.percent(item) })
      }
      case 'processing':
        return states.processing
      case 'done':
        return this.#done(item.state.deletion, item.size)
      case 'deleted':
        return states.deleted
      case 'failed':
        return this.#problem(item.state.problem, item)
      case 'cancelled':
        return states.cancelled
    }
  }

  total(uploads: Uploads): string {
    return this.#standstill(uploads) ?? this.#progress(uploads.total, uploads.total.pace)
  }

  headline({ items, total }: Uploads): string {
    const { texts, words } = this
    const active = items.filter(isActive)
    if (this.#standstill({ items, total }) !== null) return words.count(active.length, texts.waiting)
    if (active.length > 0) return `${words.count(active.length, texts.uploading)} · ${this.percent(total)}`
    const paused = items.filter(({ state }) => state.kind === 'paused').length
    return paused > 0 ? words.count(paused, texts.pausedUploads) : this.outcome(items)
  }

  outcome(items: readonly UploadItem[]): string {
    const { texts, words } = this
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

  title(uploads: Uploads): string | null {
    if (!uploads.total.isActive || uploads.total.size === 0) return null
    return this.#standstill(uploads) === null ? this.percent(uploads.total) : this.headline(uploads)
  }

  otherFile({ name, size }: Pick<UploadItem, 'name' | 'size'>, other: OtherFile): string {
    const { texts, words } = this
    if (other.isNewer) return fill(texts.otherVersion, { name })
    const sizes = { size: words.size(size), otherSize: words.size(other.size) }
    return fill(texts.otherFile, { name, other: other.name, ...sizes })
  }

  #progress({ sent, size }: Share, pace: Pace, isAgain = false): string {
    const { texts, words } = this
    const parts = [fill(texts.states.sending, { sent: words.size(sent), size: words.size(size) })]
    if (isAgain) parts.push(texts.states.again)
    if (pace.isStalled) parts.push(texts.states.stalled)
    else {
      if (pace.speed !== null) parts.push(fill(texts.speed, { size: words.size(Math.round(pace.speed)) }))
      if (pace.left !== null) parts.push(this.#left(pace.left))
    }
    return parts.join(' · ')
  }

  /** In coarse steps, so that it does not flicker. */
  #left(seconds: number): string {
    const { texts, words } = this
    if (seconds < 10) return texts.fewSecondsLeft
    if (seconds <= 50) return words.count(Math.ceil(seconds / 10) * 10, texts.secondsLeft)
    const minutes = Math.ceil(seconds / 60)
    if (minutes < 90) return words.count(minutes, texts.minutesLeft)
    return words.count(Math.ceil(minutes / 60), texts.hoursLeft)
  }

  #problem(it: UploadProblem, { name, size }: Pick<UploadItem, 'name' | 'size'>): string {
    const { words } = this
    const { problems } = this.texts
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
      case 'link-over':
        return problems.linkOver
      case 'link-full':
        return problems.linkFull
      case 'link-kind':
        return problems.linkKind
      case 'link-no-space':
        return problems.linkNoSpace
      case 'transfer-over':
        return problems.transferOver
      case 'not-stored':
        return problems.notStored
      case 'unreadable':
        return problems.unreadable
      case 'storage-refuses':
        return problems.storageRefuses
      case 'changed':
        return problems.changed
      case 'other-content':
        return fill(this.texts.otherVersion, { name })
      case 'expired':
        return problems.expired
      case 'proxy':
        return problems.proxy
      case 'refused':
        return fill(problems.refused, { code: it.code })
    }
  }

  #waiting(reason: Reason, until: number): string {
    return fill(this.texts.states.waiting[reason], { time: this.#time.format(until) })
  }

  #done(deletion: DeletionState | null, size: number): string {
    const { states } = this.texts
    if (deletion === 'asked') return states.deletionAsked
    if (deletion === 'under way') return states.deleting
    if (deletion === 'failed') return states.deletionFailed
    return fill(states.done, { size: this.words.size(size) })
  }

  /** Null unless all running uploads wait. */
  #standstill({ items }: Uploads): string | null {
    const first = items.find(({ state }) => state.kind === 'waiting')
    if (first?.state.kind !== 'waiting' || items.some(isMoving)) return null
    return this.#waiting(first.state.reason, first.state.until)
  }
}

function isMoving({ state }: UploadItem): boolean {
  return state.kind === 'starting' || state.kind === 'sending' || state.kind === 'processing'
}
