import { fill, type Words } from '../shared/words.ts'
import type { StartAppTexts } from './texts.ts'
import type { OtherFile, Pace, Total, UploadItem } from './upload-item.ts'
import type { Problem } from './verdict.ts'

/** What the page says of uploads, in the words of its reader. */
export interface View {
  readonly texts: StartAppTexts
  readonly words: Words
  percent(part: { readonly sent: number; readonly size: number }): string
  /** One line on how an upload is. */
  state(item: UploadItem): string
  total(total: Total): string
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
      case 'no-room':
        return fill(problems.noRoom, { size: words.size(size) })
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

  function state(item: UploadItem): string {
    const { states } = texts
    switch (item.state.kind) {
      case 'starting':
        return states.starting
      case 'queued':
        return states.queued
      case 'sending':
        return progress(item, item.state.pace)
      case 'waiting':
        if (item.state.reason === 'rate') return fill(states.rate, { time: time.format(item.state.until) })
        return states[item.state.reason]
      case 'paused':
        return fill(states.paused, { percent: percent(item) })
      case 'interrupted': {
        const text = item.state.hasHandle ? states.interruptedWithHandle : states.interrupted
        return fill(text, { percent: percent(item) })
      }
      case 'processing':
        return states.processing
      case 'done':
        return fill(states.done, { size: words.size(item.size) })
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
    total: (all) => progress(all, all.pace),
    otherFile({ name, size }, other) {
      if (other.isNewer) return fill(texts.otherVersion, { name })
      const sizes = { size: words.size(size), otherSize: words.size(other.size) }
      return fill(texts.otherFile, { name, other: other.name, ...sizes })
    },
  }
}
