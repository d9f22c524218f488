import { expect, test } from 'bun:test'
import { ThumbnailFailed } from '../../../src/thumbnails/maker.ts'
import { ProcessGuard } from '../../../src/thumbnails/process-guard.ts'

const LIMITS = { memory: 1024 ** 3, work: 60_000, step: 100 }

test('a step ends also when nobody is told what became of the killed process', async () => {
  const child = Bun.spawn(['sleep', '600'], { stdio: ['ignore', 'ignore', 'ignore'] })
  const guard = new ProcessGuard(child, LIMITS, new AbortController().signal)
  const untold = new Promise<void>(() => {})
  await expect(guard.step(untold)).rejects.toThrow(new ThumbnailFailed('it took longer than 0.1 seconds'))
  guard.end()
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
})

test('a step ends with the reason of the signal when the process is not wanted any more', async () => {
  const child = Bun.spawn(['sleep', '600'], { stdio: ['ignore', 'ignore', 'ignore'] })
  const unwanted = new AbortController()
  const guard = new ProcessGuard(child, { ...LIMITS, step: 60_000 }, unwanted.signal)
  const step = guard.step(new Promise<void>(() => {}))
  const reason = new Error('the server is stopping')
  unwanted.abort(reason)
  await expect(step).rejects.toBe(reason)
  guard.end()
  await child.exited
})

test('a process that takes more memory than it may is killed', async () => {
  const program = 'const kept = []; for (;;) { kept.push(Buffer.alloc(8e6, 1)); await Bun.sleep(5) }'
  const child = Bun.spawn([process.execPath, '-e', program], { stdio: ['ignore', 'ignore', 'ignore'] })
  const limits = { ...LIMITS, memory: 200 * 1024 ** 2, step: 60_000 }
  const guard = new ProcessGuard(child, limits, new AbortController().signal)
  await guard.step(child.exited)
  guard.end()
  expect(child.signalCode).toBe('SIGKILL')
  expect(guard.failure()).toEqual(new ThumbnailFailed('it took more than 200 MB'))
})
