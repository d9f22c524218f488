/** What the start page decides by rules alone: when to try again, what an answer means, how fast it goes. */
import { describe, expect, test } from 'bun:test'
import { answerOf } from '../../../web/uploads/answers.ts'
import { Board } from '../../../web/uploads/board.ts'
import { Line } from '../../../web/uploads/line.ts'
import { shortList } from '../../../web/uploads/list/short-list.ts'
import { createPacer } from '../../../web/uploads/pace.ts'
import { openReceiptStore } from '../../../web/uploads/receipts.ts'
import { NO_PACE, type UploadItem, type UploadPhase } from '../../../web/uploads/upload-item.ts'
import { classifyFailure } from '../../../web/uploads/verdict.ts'

const LIMIT = 1000
const verdict = (status: number, body = '', retryAfter: string | null = null) =>
  classifyFailure(answerOf(status, body, retryAfter), { limit: LIMIT, isOnline: true })
const refusal = (error: string, reason?: string) =>
  JSON.stringify({ success: false, message: '', error, reason })

describe('an answer', () => {
  test('of 413 is a proxy’s without a code of ours, and else the limit that it names', () => {
    expect(verdict(413, '<h1>413</h1>')).toEqual({ kind: 'smaller' })
    expect(verdict(413, refusal('FILE_TOO_LARGE'))).toEqual({
      kind: 'over',
      problem: { kind: 'too-large', limit: LIMIT },
    })
    expect(verdict(413, refusal('STORAGE_LIMIT_EXCEEDED'))).toEqual({
      kind: 'over',
      problem: { kind: 'account-full' },
    })
  })

  test('to what goes by an upload link says what of the link is in the way, and nothing of its owner', () => {
    for (const [status, code, kind] of [
      [413, 'STORAGE_LIMIT_EXCEEDED', 'link-no-space'],
      [404, 'LINK_USED_UP', 'link-full'],
      [413, 'FILE_TOO_LARGE', 'link-full'],
      [404, 'LINK_ENDED', 'link-over'],
      [404, 'LINK_NOT_FOUND', 'link-over'],
      [415, 'UNSUPPORTED_MEDIA_TYPE', 'link-kind'],
    ] as const) {
      const answer = answerOf(status, refusal(code), null)
      const told = classifyFailure(answer, { limit: LIMIT, isOnline: true, by: 'upload link' })
      expect(told).toEqual({ kind: 'over', problem: { kind } })
    }
  })

  test('that does not come, or is a gateway’s, is waited out', () => {
    for (const [isOnline, reason] of [
      [true, 'unreachable'],
      [false, 'offline'],
    ] as const) {
      expect(classifyFailure(null, { limit: LIMIT, isOnline })).toEqual({
        kind: 'again',
        reason,
        seconds: null,
      })
    }
    for (const status of [404, 502, 503, 504, 524]) {
      expect(verdict(status, '<h1>Bad gateway</h1>')).toEqual({
        kind: 'again',
        reason: 'unreachable',
        seconds: null,
      })
    }
  })

  test('that asks for patience gets as much as it asks for', () => {
    expect(verdict(503, refusal('SHUTTING_DOWN'), '5')).toEqual({
      kind: 'again',
      reason: 'restarting',
      seconds: 5,
    })
    expect(verdict(429, refusal('RATE_LIMITED'), '1800')).toEqual({
      kind: 'again',
      reason: 'rate',
      seconds: 1800,
    })
  })

  test('is called what it is: each cause has its own name, and a busy server is none of them', () => {
    const causes = {
      '503 STORAGE_UNAVAILABLE': 'storage-away',
      '503 STORAGE_UNAVAILABLE full': 'full',
      '503 STORAGE_UNAVAILABLE guests': 'guests-full',
      '503 STORAGE_UNAVAILABLE away': 'storage-away',
      '503 STORAGE_UNAVAILABLE refused': 'storage-away',
      '503 SHUTTING_DOWN': 'restarting',
      '503 DATABASE_UNAVAILABLE': 'restarting',
      '500 INTERNAL_ERROR': 'broken',
      '408 REQUEST_TIMEOUT': 'slow',
      '429 RATE_LIMITED': 'rate',
      '413 STORAGE_LIMIT_EXCEEDED': 'account-full',
      '401 NOT_SIGNED_IN': 'signed-out',
      '401 INVALID_API_KEY': 'signed-out',
      '403 ACCOUNT_DISABLED': 'not-allowed',
      '403 SCOPE_MISSING': 'not-allowed',
      '403 GUEST_UPLOADS_DISABLED': 'guests-off',
      '403 CONTENT_REFUSED': 'content-refused',
      '404 FOLDER_NOT_FOUND': 'folder-gone',
      '400 INVALID_NAME': 'refused',
    }
    for (const [answer, cause] of Object.entries(causes)) {
      const [status = '', code = '', reason] = answer.split(' ')
      const it = verdict(Number(status), refusal(code, reason))
      const found: string = it.kind === 'again' ? it.reason : it.kind === 'over' ? it.problem.kind : it.kind
      expect([answer, found]).toEqual([answer, cause])
    }
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
      line: new Line(
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
    pacer.tick(1000, 9000, 1000)
    expect(pacer.tick(1000, 9000, 2000)).toMatchObject({ speed: expect.any(Number) })
    expect(pacer.tick(1000, 9000, 4000)).toEqual({ speed: null, left: null, isStalled: false })
    expect(pacer.tick(1000, 9000, 8000)).toEqual({ speed: 0, left: null, isStalled: true })
    expect(pacer.tick(2000, 8000, 8500).isStalled).toBe(false)
  })
})

describe('the board', () => {
  test('shows the first change at once, and the hundreds that follow together', async () => {
    const board = new Board()
    let shown = 0
    board.subscribe(() => (shown += 1))
    const item = { name: 'a.txt', size: 1, sent: 0, link: null, folder: null, path: null }
    const entries = Array.from({ length: 100 }, () =>
      board.add({ ...item, state: { kind: 'interrupted', hasHandle: false, other: null } }, null, true),
    )
    await Promise.resolve()
    expect([shown, board.snapshot().items.length]).toEqual([1, 100])
    for (const entry of entries) {
      board.setState(entry, { kind: 'paused' })
      await Promise.resolve()
      board.setState(entry, { kind: 'done', deletion: null })
      await Promise.resolve()
    }
    // A busy machine may need longer than a step takes.
    expect(shown).toBeLessThan(10)
    while (board.snapshot().items.some(({ state }) => state.kind !== 'done')) await Bun.sleep(5)
    expect(shown).toBeLessThan(10)
  })
})

describe('a list of many uploads', () => {
  const item = (index: number, state: UploadPhase): UploadItem => ({
    id: String(index),
    name: `${index}.txt`,
    size: 1,
    sent: 0,
    link: null,
    folder: null,
    path: null,
    state,
  })

  test('shows all of a few, and of many what moves and what needs the person, in their order', () => {
    const few = Array.from({ length: 12 }, (_, at) => item(at, { kind: 'queued' }))
    expect(shortList(few)).toEqual(few)
    const many = Array.from({ length: 120 }, (_, at): UploadItem => {
      if (at === 7) return item(at, { kind: 'failed', problem: { kind: 'account-full' } })
      if (at < 40) return item(at, { kind: 'done', deletion: null })
      return item(at, at < 43 ? { kind: 'sending', pace: NO_PACE } : { kind: 'queued' })
    })
    expect(shortList(many).map(({ id }) => id)).toEqual(['7', '40', '41', '42'])
    const done = many.map(({ id }) => item(Number(id), { kind: 'done', deletion: null }))
    expect(shortList(done).map(({ id }) => id)).toEqual(['115', '116', '117', '118', '119'])
    const withFailure = many.filter(({ state }) => state.kind === 'failed').concat(done.slice(8))
    expect(shortList(withFailure).map(({ id }) => id)).toEqual(['7', '115', '116', '117', '118', '119'])
  })
})

describe('receipts', () => {
  const storage = (broken: boolean) => {
    const kept = new Map<string, string>()
    return {
      length: 0,
      key: () => null,
      clear() {},
      removeItem() {},
      getItem: (key: string) => kept.get(key) ?? null,
      setItem(key: string, value: string) {
        if (broken) throw new Error('QuotaExceededError')
        kept.set(key, value)
      },
    }
  }
  const one = (at: number) => ({ name: `${at}.txt`, size: at, link: `/d/${at}`, receipt: `r${at}`, at })

  test('of the latest uploads are kept by the browser, once for each link, until they are of no use', () => {
    const own = storage(false)
    const receipts = openReceiptStore(own)
    own.setItem('holdfast-receipts', JSON.stringify(Array.from({ length: 1000 }, (_, at) => one(999 - at))))
    for (let at = 1000; at < 1050; at++) receipts.add(one(at))
    receipts.add(one(1049))
    expect(receipts.list()).toHaveLength(1000)
    const again = openReceiptStore(own)
    expect(again.find('/d/1049')).toEqual(one(1049))
    expect(again.find('/d/49')).toBeNull()
    again.remove('/d/1049', '/d/1048')
    expect([receipts.find('/d/1049'), receipts.find('/d/1048')]).toEqual([null, null])
    own.setItem('holdfast-receipts', '[{"name": 1}, null, 7]')
    expect(receipts.list()).toEqual([])
  })

  test('last as long as the page where the browser keeps nothing', () => {
    for (const own of [null, storage(true)]) {
      const receipts = openReceiptStore(own)
      receipts.add(one(1))
      expect(receipts.list()).toEqual([one(1)])
    }
  })
})
