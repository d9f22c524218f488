import { useEffect, useRef, useState } from 'react'
import type { UploadItem, UploadPhase } from '../upload-item.ts'
import type { View } from './view.ts'

/** Tells screen readers what has changed for good; how far everything is they can look up. */
export function Announcements({ items, view }: { items: readonly UploadItem[]; view: View }) {
  const [said, setSaid] = useState('')
  const before = useRef<ReadonlyMap<string, UploadPhase['kind']>>(new Map())

  useEffect(() => {
    const last = before.current
    before.current = new Map(items.map(({ id, state }) => [id, state.kind]))
    const news = items.filter(({ id, state }) => last.get(id) !== state.kind)
    const text = sentence(news, items, view)
    if (text !== null) setSaid(text)
  }, [items, view])

  return (
    <p aria-live="polite" className="off-screen" role="status">
      {said}
    </p>
  )
}

function sentence(news: readonly UploadItem[], items: readonly UploadItem[], view: View): string | null {
  const { texts, words } = view
  const are = (kind: UploadPhase['kind']) => news.filter(({ state }) => state.kind === kind)
  const done = are('done')
  if (done.length > 0 && items.every(({ state }) => state.kind === 'done')) {
    return words.count(items.length, texts.uploaded)
  }
  const [told] = [...are('failed'), ...are('interrupted'), ...are('waiting'), ...are('paused')]
  if (told !== undefined) return `${told.name}: ${view.state(told)}`
  const [finished] = done
  if (finished !== undefined) return `${finished.name}: ${view.state(finished)}`
  const started = are('starting')
  return started.length === 0 ? null : words.count(started.length, texts.uploading)
}
