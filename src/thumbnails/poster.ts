import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VideoFormat } from '../domain/media-type.ts'
import { LARGE, type Source } from './maker.ts'
import { type Limits, ProcessGuard } from './process-guard.ts'
import type { Spawner } from './spawning.ts'

/** Bytes from the beginning of a long video, where the frame is. */
const BEGINNING = 32 * 1024 * 1024
/** Bytes from its end, where many cameras write the index. */
const END = 16 * 1024 * 1024
const PIECE = 4 * 1024 * 1024

/** Of a frame: 8K has 33 million. */
const MOST_PIXELS = 50_000_000
/** Mean luma (16 is black, 235 white) of a dark frame: films often begin black, or with a white title on it. */
const DARK = 30
/** In order, until one finds a frame. Times are seconds of the film; `work`: CPU seconds, after which ffmpeg stops. */
const SEARCHES: readonly Search[] = [
  { input: ['-skip_frame', 'nokey', '-t', '300'], filter: '', skipsDark: true, work: 5 },
  {
    input: ['-t', '15'],
    filter: "select='isnan(prev_selected_t)+gte(t-prev_selected_t,0.5)',",
    skipsDark: true,
    work: 5,
  },
  // A dark film: the most typical of its first frames.
  { input: [], filter: 'thumbnail=24,', skipsDark: false, work: 10 },
]
interface Search {
  readonly input: readonly string[]
  readonly filter: string
  readonly skipsDark: boolean
  readonly work: number
}
/** Bytes: upper bound for a PNG of the largest poster. */
const MOST_BYTES = 8 * 1024 * 1024

/** Null: no usable frame. Throws ThumbnailFailed, the reason of the signal, and what the source throws. */
export async function makePoster(
  format: VideoFormat,
  source: Source,
  parts: {
    readonly ffmpeg: string
    readonly spawner: Spawner
    readonly limits: Limits
    readonly signal: AbortSignal
  },
): Promise<Uint8Array | null> {
  const { ffmpeg, spawner, limits, signal } = parts
  const film = await unnamedFile()
  try {
    await fill(film, source, signal)
    for (const search of SEARCHES) {
      const poster = await find(search)
      if (poster !== null) return poster
    }
    return null
  } finally {
    await film.close()
  }

  async function find(search: Search): Promise<Uint8Array | null> {
    const child = spawner.spawn([ffmpeg, ...ffmpegOptions(format, search)], film.fd)
    const guard = new ProcessGuard(child, limits, signal)
    try {
      const poster = await guard.step(upTo(MOST_BYTES, child.stdout))
      if (poster === null) child.kill('SIGKILL')
      await guard.step(child.exited)
      // Out of CPU time: try the next search.
      if (child.signalCode === 'SIGXCPU' && search.skipsDark) return null
      if (child.signalCode !== null) throw guard.failure()
      return child.exitCode === 0 && poster !== null && poster.byteLength > 0 ? poster : null
    } finally {
      guard.end()
      child.kill('SIGKILL')
    }
  }
}

/** Forces the detected format and allows only the file protocol: a video may reference other files and addresses. */
function ffmpegOptions(format: VideoFormat, { input: range, filter, skipsDark, work }: Search): string[] {
  const ratio = `min(1,${LARGE}/max(iw*sar,ih))`
  const size = `w='max(1,iw*sar*${ratio})':h='max(1,ih*${ratio})'`
  const brightness = `metadata=select:key=lavfi.signalstats.YAVG:value=${DARK}:function=greater`
  const notDark = `format=yuv420p,signalstats,${brightness},`
  const input = ['-protocol_whitelist', 'file', '-f', format, '-max_pixels', String(MOST_PIXELS)]
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-timelimit', String(work)],
    ...[...input, ...range, '-threads', '1', '-i', '/dev/stdin'],
    // `V` excludes cover art.
    ...['-map', '0:V:0', '-map_metadata', '-1', '-frames:v', '1', '-threads', '1', '-filter_threads', '1'],
    ...['-vf', `${filter}scale=${size},setsar=1,${skipsDark ? notDark : ''}format=rgb24`],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ]
}

/** An unlinked temporary file: it disappears with its last handle, even if this process is killed. */
async function unnamedFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `holdfast-${crypto.randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

/** Fills the file to the video's full length, with a hole in the unread middle. */
async function fill(file: FileHandle, { size, readInto }: Source, signal: AbortSignal): Promise<void> {
  const copy = async (from: number, to: number) => {
    const piece = new Uint8Array(Math.min(PIECE, Math.max(0, to - from)))
    for (let at = from; at < to; at += piece.byteLength) {
      signal.throwIfAborted()
      const part = piece.subarray(0, to - at)
      await readInto(at, part)
      await file.write(part, 0, part.byteLength, at)
    }
  }
  await file.truncate(size)
  const beginning = Math.min(size, BEGINNING)
  await copy(0, beginning)
  await copy(Math.max(beginning, size - END), size)
}

async function upTo(most: number, stream: ReadableStream<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.byteLength
    if (length > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
