/** Extracts one frame of a video with ffmpeg. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VideoFormat } from '../domain/thumbnail-kind.ts'
import { LARGE, type Source } from './maker.ts'
import { type Limits, ProcessGuard } from './process-guard.ts'
import type { Spawner } from './spawning.ts'

/** Bytes read from the beginning of a long video, where the frame is. */
const BEGINNING = 32 * 1024 * 1024
/** Bytes read from its end, where many cameras write the index. */
const END = 16 * 1024 * 1024
/** Bytes read from the store at a time. */
const PIECE = 4 * 1024 * 1024

/** Of a frame: films of 8K have 33 million. */
const MOST_PIXELS = 50_000_000
/** Mean luma (16 is black, 235 white) up to which a frame is dark: films often begin black, or with a white title on it. */
const DARK = 30
/**
 * Ways to find the frame, in order; the next one is tried where one finds none. Times are seconds of the film. `work`: CPU
 * time in seconds after which ffmpeg gives up.
 */
const SEARCHES: readonly Search[] = [
  // Key frames alone, which costs little.
  { input: ['-skip_frame', 'nokey', '-t', '300'], filter: '', skipsDark: true, work: 5 },
  // Two frames of each second.
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
/** Upper bound for a PNG of the largest poster. */
const MOST_BYTES = 8 * 1024 * 1024

/**
 * Returns a PNG, or null when the video has no usable frame. Throws MakingFailed when ffmpeg exceeded a limit
 * or crashed, the reason of the signal, and what the source throws.
 */
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
      // The time that it has for one of several searches is over.
      if (child.signalCode === 'SIGXCPU' && search.skipsDark) return null
      if (child.signalCode !== null) throw guard.failure()
      return child.exitCode === 0 && poster !== null && poster.byteLength > 0 ? poster : null
    } finally {
      guard.end()
      child.kill('SIGKILL')
    }
  }
}

/**
 * Forces the detected format and allows only the file protocol, because a video may reference other files and
 * addresses.
 */
function ffmpegOptions(format: VideoFormat, { input: range, filter, skipsDark, work }: Search): string[] {
  const ratio = `min(1,${LARGE}/max(iw*sar,ih))`
  const size = `w='max(1,iw*sar*${ratio})':h='max(1,ih*${ratio})'`
  const brightness = `metadata=select:key=lavfi.signalstats.YAVG:value=${DARK}:function=greater`
  const notDark = `format=yuv420p,signalstats,${brightness},`
  const input = ['-protocol_whitelist', 'file', '-f', format, '-max_pixels', String(MOST_PIXELS)]
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'quiet', '-timelimit', String(work)],
    ...[...input, ...range, '-threads', '1', '-i', '/dev/stdin'],
    // Only the first video stream that is not cover art, without metadata.
    ...['-map', '0:V:0', '-map_metadata', '-1', '-frames:v', '1', '-threads', '1', '-filter_threads', '1'],
    ...['-vf', `${filter}scale=${size},setsar=1,${skipsDark ? notDark : ''}format=rgb24`],
    ...['-c:v', 'png', '-f', 'image2pipe', 'pipe:1'],
  ]
}

/**
 * An unlinked temporary file, which disappears when the last handle is closed, even if this process is
 * killed.
 */
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

/** All bytes of the stream, or null when there are more than `most`. */
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
