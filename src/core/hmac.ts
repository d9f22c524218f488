import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { Sha256 } from '../domain/ids.ts'

export interface Signing {
  /** `<payload in base64url>.<signature>`. The purpose separates kinds of tokens, here and below. */
  sign(purpose: string, payload: unknown): string
  /** Null, like `unseal`, for a token not made here for the purpose. */
  verify(purpose: string, token: string): unknown
  /** Authenticated encryption (AES-256-GCM) in base64url. */
  seal(purpose: string, payload: unknown): string
  unseal(purpose: string, token: string): unknown
  /** A short HMAC that does not reveal the text. */
  tag(purpose: string, text: string): string
}

const [NONCE, TAG] = [12, 16]

export function createSigning(secret: string): Signing {
  const mac = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('base64url')
  // No tag or signature uses the purpose `sealing`.
  const keyOf = (use: string, purpose: string) =>
    createHmac('sha256', secret).update(`sealing\n${use}\n${purpose}`).digest()

  return {
    sign(purpose, payload) {
      const body = Buffer.from(JSON.stringify(payload)).toString('base64url')
      return `${body}.${mac(purpose, body)}`
    },

    verify(purpose, token) {
      const [body, signature, ...rest] = token.split('.')
      if (body === undefined || signature === undefined || rest.length > 0) return null
      const expected = Buffer.from(mac(purpose, body))
      const given = Buffer.from(signature)
      if (expected.length !== given.length || !timingSafeEqual(expected, given)) return null
      return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    },

    seal(purpose, payload) {
      const text = JSON.stringify(payload)
      // Synthetic IV: derived from the text, so no two texts share a nonce.
      const nonce = createHmac('sha256', keyOf('nonce', purpose)).update(text).digest().subarray(0, NONCE)
      const cipher = createCipheriv('aes-256-gcm', keyOf('key', purpose), nonce)
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return Buffer.concat(sealed).toString('base64url')
    },

    unseal(purpose, token) {
      const bytes = Buffer.from(token, 'base64url')
      // The decoder skips invalid characters, which would give one token many spellings.
      if (bytes.length < NONCE + TAG || bytes.toString('base64url') !== token) return null
      const cipher = createDecipheriv('aes-256-gcm', keyOf('key', purpose), bytes.subarray(0, NONCE))
      cipher.setAuthTag(bytes.subarray(-TAG))
      try {
        const text = Buffer.concat([cipher.update(bytes.subarray(NONCE, -TAG)), cipher.final()])
        return JSON.parse(text.toString('utf8'))
      } catch {
        return null
      }
    },

    tag: (purpose, text) => mac(purpose, text).slice(0, 16),
  }
}

/** Stored hash of tokens, keys and upload names: with 128 random bits or more, plain SHA-256 suffices. */
export function hashToken(token: string): Sha256 {
  return Bun.SHA256.hash(token, 'hex') as Sha256
}
