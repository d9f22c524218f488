import { type HashReply, type HashRequest, RunningDigest } from './content-hash-messages.ts'

declare const self: Worker

let memory = new SharedArrayBuffer(0)
const contents = new Map<number, RunningDigest>()

self.onmessage = ({ data }: MessageEvent<HashRequest>) => {
  switch (data.kind) {
    case 'memory':
      memory = data.memory
      return
    case 'shared':
      return hash(data.content, new Uint8Array(memory, data.offset, data.length))
    case 'copied':
      return hash(data.content, data.bytes)
    case 'end':
      return end(data.content)
    case 'drop':
      contents.delete(data.content)
      return
  }
}

function hash(content: number, bytes: Uint8Array): void {
  const running = contents.get(content) ?? new RunningDigest()
  contents.set(content, running)
  running.update(bytes)
  reply({ content, digest: null })
}

function end(content: number): void {
  const running = contents.get(content) ?? new RunningDigest()
  contents.delete(content)
  reply({ content, digest: running.digest() })
}

function reply(answer: HashReply): void {
  self.postMessage(answer)
}
