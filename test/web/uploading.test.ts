/** What the start page decides by rules alone: when to try again, what an answer means, how fast it goes. */
import { describe, expect, test } from 'bun:test'
import { answerOf } from '../../web/start/answers.ts'
import { createLine } from '../../web/start/line.ts'
import { createPacer } from '../../web/start/pace.ts'
import { judge } from '../../web/start/verdict.ts'

const LIMIT = 1000
const verdict = (status: number, body = '', retryAfter: string | null = null) =>
  judge(answerOf(status, body, retryAfter), LIMIT)
const refusal = (error: string) => JSON.stringify({ success: false, message: '', error })

describe('an answer', () => {
  test('of 413 is a proxy’s without a code of ours, and else the limit that it names', () => {
    expect(verdict(413, '<h1>413</h1>')).toEqual({ kind: 'smaller' })
    expect(verdict(413, refusal('FILE_TOO_LARGE'))).toEqual({
      kind: 'over',
      problem: { kind: 'too-large', limit: LIMIT },
    })
    expect(verdict(413, refusal('STORAGE_LIMIT_EXCEEDED'))).toEqual({
      kind: 'over',
      problem: { kind: 'no-room' },
    })
  })

  test('that does not come, or is a gateway’s, is waited out', () => {
    expect(judge(null, LIMIT)).toEqual({ kind: 'again', reason: 'network', seconds: null })
    for (const status of [404, 502, 503, 504, 524]) {
      expect(verdict(status, '<h1>Bad gateway</h1>')).toEqual({
        kind: 'again',
        reason: 'busy',
        seconds: null,
      })
    }
  })

  test('that asks for patience gets as much as it asks for', () => {
    expect(verdict(503, refusal('SHUTTING_DOWN'), '5')).toEqual({ kind: 'again', reason: 'busy', seconds: 5 })
    expect(verdict(429, refusal('RATE_LIMITED'), '1800')).toEqual({
      kind: 'again',
      reason: 'rate',
      seconds: 1800,
    })
  })

  test('that does not know the upload begins it anew, and any other refusal ends it', () => {
    expect(verdict(404, refusal('UPLOAD_NOT_FOUND'))).toEqual({ kind: 'anew' })
    expect(verdict(410, refusal('UPLOAD_GONE'))).toEqual({ kind: 'anew' })
    expect(verdict(400, refusal('INVALID_NAME'))).toEqual({
      kind: 'over',
      problem: { kind: 'refused', code: 'INVALID_NAME' },
    })
    expect(verdict(403, '<h1>Forbidden</h1>')).toEqual({
      kind: 'over',
      problem: { kind: 'refused', code: 'HTTP 403' },
    })
  })
})

describe('the line', () => {
  const fixed = () => {
    let time = 0
    return {
      line: createLine(
        () => time,
        () => 1,
      ),
      pass: (milliseconds: number) => (time += milliseconds),
    }
  }

  test('is waited for longer after each failure, half a minute at most, and anew after it worked', () => {
    const { line, pass } = fixed()
    const pauses: number[] = []
    for (let time = 0; pauses.length < 8; ) {
      const until = line.failed(null)
      pauses.push(until - time)
      pass(until - time)
      time = until
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    line.works()
    expect(line.failed(null) - pauses.reduce((all, each) => all + each)).toBe(500)
  })

  test('fails once when several uploads lose it together', () => {
    const { line } = fixed()
    expect([line.failed(null), line.failed(null), line.failed(null)]).toEqual([500, 500, 500])
  })

  test('is tried at once when the network is back, but not before the server wants it', async () => {
    const { line, pass } = fixed()
    line.failed(null)
    line.nudge()
    await line.open(new AbortController().signal)
    line.failed(60)
    line.nudge()
    let isOpen = false
    const leaving = new AbortController()
    const opened = line.open(leaving.signal).then(() => {
      isOpen = true
    })
    await Bun.sleep(0)
    expect(isOpen).toBe(false)
    pass(61_000)
    leaving.abort()
    await opened
  })
})

describe('the pace', () => {
  test('is not told before it is known, and then evens out what jumps', () => {
    const pacer = createPacer(0, 0)
    expect(pacer.tick(500, 1_000_000, 500)).toEqual({ speed: null, left: null, isStalled: false })
    let sent = 0
    let last = 0
    for (let time = 1000; time <= 20_000; time += 500) {
      // 1000 bytes a second, which arrive in lumps.
      if (time % 2000 === 0) sent += 2000
      last = pacer.tick(sent, 1_000_000, time).speed ?? 0
    }
    expect(last).toBeGreaterThan(700)
    expect(last).toBeLessThan(1400)
  })

  test('calls a stall a stall, and forgets it with the next byte', () => {
    const pacer = createPacer(0, 0)
    pacer.tick(1000, 10_000, 1000)
    expect(pacer.tick(1000, 10_000, 8000)).toEqual({ speed: 0, left: null, isStalled: true })
    expect(pacer.tick(2000, 10_000, 8500).isStalled).toBe(false)
  })
})
