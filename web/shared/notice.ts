/** Milliseconds between two looks at what the administrators tell everybody. */
const EVERY = 60_000

/**
 * Keeps the notice in the frame of a page that stays open for long. The frame has a place for it, which is hidden while
 * there is nothing to tell; what cannot be asked now is left as it is.
 */
export function watchNotice(): void {
  const place = document.querySelector<HTMLElement>('.site-notice')
  if (place === null) return
  setInterval(() => {
    if (document.visibilityState === 'visible') look(place).catch(() => {})
  }, EVERY)
}

async function look(place: HTMLElement): Promise<void> {
  const response = await fetch('/api/v1/notice')
  if (!response.ok) return
  const notice = noticeOf(await response.json())
  if (notice === undefined) return
  place.hidden = notice === null
  place.textContent = notice?.text ?? ''
  place.className = `site-notice ${notice?.level ?? 'info'}`
}

/** Null: there is none; undefined: that is no answer of ours. */
function noticeOf(answer: unknown): { text: string; level: string } | null | undefined {
  const data = fieldOf(answer, 'data')
  const notice = fieldOf(data, 'notice')
  if (notice === null) return null
  const [text, level] = [fieldOf(notice, 'text'), fieldOf(notice, 'level')]
  return typeof text === 'string' && (level === 'info' || level === 'warning') ? { text, level } : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
}
