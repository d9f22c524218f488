import { createHmac, timingSafeEqual } from 'node:crypto'

/** HMAC signatures for short payloads, so that forged or altered links and cookies are recognized. */
export interface Signing {
  /** `<payload in base64url>.<signature>`. The purpose keeps one kind of token from passing for another. */
  sign(purpose: string, payload: unknown): string
  /** Returns the payload, or null when the token was not signed here for that purpose. */
  verify(purpose: string, token: string): unknown
  /** A short HMAC of the text, which changes with it and does not reveal it. */
  tag(purpose: string, text: string): string
}

export function createSigning(secret: string): Signing {
  const mac = (purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('base64url')

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

    tag: (purpose, text) => mac(purpose, text).slice(0, 16),
  }
}
