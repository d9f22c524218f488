import { useEffect, useRef, useState } from 'react'
import type { UploadItem, UploadPhase } from '../upload-item.ts'
import type { View } from './view.ts'

/** Announces lasting changes to screen readers, not progress. */
export function Announcements({ items, view }: { items: readonly UploadItem[]; view: View }) {
  const [said, setSaid] = useState('')
  const before = useRef<Kinds>(new Map())
  const about = useRef<UploadItem | null>(null)

  useEffect(() => {
    const last = before.current
    before.current = new Map(items.map(({ id, state }) => [id, state.kind]))
    const now = sentence(items, last, view)
    if (now !== null) {
      about.current = now.about
      setSaid(now.text)
    } else if (about.current !== null && before.current.get(about.current.id) !== about.current.state.kind) {
      // A stale announcement could be found by reading on.
      about.current = null
      setSaid('')
    }
  }, [items, view])

  return (
    <p aria-live="polite" className="off-screen" role="status">
      {said}
    </p>
  )
}

type Kinds = ReadonlyMap<string, UploadPhase['kind']>

interface Sentence {
  readonly text: string
  readonly about: UploadItem | null
}

function sentence(items: readonly UploadItem[], last: Kinds, view: View): Sentence | null {
  const { texts, words } = view
  const news = items.filter(({ id, state }) => last.get(id) !== state.kind)
  const are = (kind: UploadPhase['kind']) => news.filter(({ state }) => state.kind === kind)
  const done = are('done')
  if (done.length > 0 && items.every(({ state }) => state.kind === 'done')) {
    return { text: words.count(items.length, texts.uploaded), about: null }
  }
  const [told] = [...TOLD.flatMap(are), ...done]
  if (told !== undefined) {
    const text = `${told.name}: ${view.state(told)}`
    const isEnd = items.length > 1 && items.every(({ state }) => ENDED.includes(state.kind))
    return isEnd ? { text: `${text} ${view.outcome(items)}`, about: null } : { text, about: told }
  }
  const begun = [...are('starting'), ...are('sending').filter(({ id }) => STOOD.includes(last.get(id) ?? ''))]
  return begun.length === 0 ? null : { text: words.count(begun.length, texts.uploading), about: null }
}

const TOLD = ['failed', 'interrupted', 'waiting', 'paused', 'cancelled', 'deleted'] as const
/** When the last upload ends, the outcome of all is announced. */
const ENDED: readonly string[] = ['done', 'failed']
/** Continuing from these is announced; starting is not. */
const STOOD: readonly string[] = ['interrupted', 'waiting', 'paused']
