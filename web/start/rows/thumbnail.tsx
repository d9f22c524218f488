import { useEffect, useRef } from 'react'
import { Drawing } from '../../shared/drawings/drawing.tsx'
import { createSemaphore } from '../../uploads/semaphore.ts'
import type { UploadItem } from '../../uploads/upload-item.ts'

/** Device pixels of a side. */
const SIDE = 64
/** Bytes: larger pictures would take long to decode beside the upload. */
const LARGEST = 40 * 1024 ** 2
/** Pictures are small, and kept: their rows come and go. */
const MOST_KEPT = 1000

const kept = new Map<string, ImageBitmap | null>()
const decoding = createSemaphore(1)

/** Of a picture that this page has: drawn when its row is in view. Else an icon. */
export function Thumbnail({ item: { id, file, state } }: { item: UploadItem }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const picture = file?.type.startsWith('image/') && file.size <= LARGEST ? file : undefined

  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const leaving = new AbortController()
    const watcher = new IntersectionObserver(([seen]) => {
      if (!seen?.isIntersecting) return
      watcher.disconnect()
      void pictureOf(id, picture, leaving.signal).then((bitmap) => {
        if (bitmap !== null && !leaving.signal.aborted) draw(element, bitmap)
      })
    })
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      leaving.abort()
    }
  }, [id, picture])

  return (
    <span aria-hidden="true" className="upload-picture" data-state={state.kind}>
      <Drawing of={drawingOf(state.kind)} />
      {picture === undefined && !kept.has(id) ? null : <canvas height={SIDE} ref={canvas} width={SIDE} />}
    </span>
  )
}

async function pictureOf(
  id: string,
  file: Blob | undefined,
  signal: AbortSignal,
): Promise<ImageBitmap | null> {
  const known = kept.get(id)
  if (known !== undefined || file === undefined) return known ?? null
  const release = await decoding.take(signal)
  if (release === null) return null
  try {
    const bitmap = await createImageBitmap(file, { resizeWidth: 2 * SIDE, resizeQuality: 'medium' }).catch(
      () => null,
    )
    if (kept.size < MOST_KEPT) kept.set(id, bitmap)
    return bitmap
  } finally {
    release()
  }
}

/** Its middle, as a square. */
function draw(canvas: HTMLCanvasElement, bitmap: ImageBitmap): void {
  const { width, height } = bitmap
  const side = Math.min(width, height)
  const at = [(width - side) / 2, (height - side) / 2] as const
  canvas.getContext('2d')?.drawImage(bitmap, ...at, side, side, 0, 0, SIDE, SIDE)
  canvas.dataset.drawn = ''
}

function drawingOf(kind: UploadItem['state']['kind']): 'check' | 'alert' | 'file' {
  if (kind === 'done') return 'check'
  return ['failed', 'waiting', 'interrupted'].includes(kind) ? 'alert' : 'file'
}
