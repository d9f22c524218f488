import * as z from 'zod/mini'
import {
  component,
  dataOf,
  described,
  extended,
  optionalTimestamp,
  pageOf,
  timestampField,
} from './fields.ts'
import { linkDetail } from './links.ts'
import { receivedField, totalField, uploadStatuses } from './uploads.ts'

export const receiptUpload = component(
  'ReceiptUpload',
  z.object({
    kind: z.literal('upload'),
    status: uploadStatuses,
    name: z.string(),
    received: receivedField,
    size: totalField,
    slug: z.string(),
    url: z.string(),
    created_at: timestampField,
    expires_at: described(optionalTimestamp, {
      description:
        'When it is deleted, unless somebody opens it or it is kept; while it is arriving, unless it goes on; null: never',
    }),
    views: z.int(),
    downloads: z.int(),
    sha256: described(z.nullable(z.string()), { description: 'null while it is arriving' }),
  }),
)
export type ReceiptUpload = z.infer<typeof receiptUpload>

/** Hides where the file is now. */
export const receiptContribution = component(
  'ReceiptContribution',
  z.object({
    kind: z.literal('contribution'),
    status: uploadStatuses,
    name: described(z.string(), { description: 'As it was sent' }),
    received: receivedField,
    size: totalField,
    sha256: described(z.nullable(z.string()), { description: 'null while it is arriving' }),
    sender: described(z.nullable(z.string()), { example: 'Ann Lee' }),
    address: described(z.nullable(z.string()), { example: 'ann@example.org' }),
    reference: described(z.nullable(z.string()), { example: '42' }),
    owner: described(z.string(), { description: 'User name of whoever asked for it', example: 'ben' }),
    link: described(z.nullable(z.object({ url: z.string(), name: z.nullable(z.string()) })), {
      description: 'null once it was revoked',
    }),
    can_withdraw: described(z.boolean(), {
      description: 'Whether DELETE withdraws it: while the link is in force and the file where it came to',
    }),
    created_at: timestampField,
  }),
)
export type ReceiptContribution = z.infer<typeof receiptContribution>

export const receiptLink = component('ReceiptLink', extended(linkDetail, { kind: z.literal('link') }))
export type ReceiptLink = z.infer<typeof receiptLink>

export const receiptTransfer = component(
  'ReceiptTransfer',
  extended(linkDetail, { kind: z.literal('transfer'), expires_at: optionalTimestamp }),
)
export type ReceiptTransfer = z.infer<typeof receiptTransfer>

const receipted = z.union([receiptUpload, receiptContribution, receiptLink, receiptTransfer])
export type Receipted = z.infer<typeof receipted>

export const receiptAnswer = dataOf(receipted)

const receiptFile = component(
  'ReceiptFile',
  z.object({
    name: described(z.string(), { example: 'beach.jpg' }),
    size: described(z.int(), { description: 'Bytes', example: 2_430_112 }),
    type: described(z.string(), { example: 'image/jpeg' }),
    folder_id: described(z.string(), { description: 'Of the transfer itself, or of one below' }),
    thumbnail_url: described(z.string(), { description: 'Whatever the terms of the link' }),
    created_at: timestampField,
  }),
)
export type ReceiptFile = z.infer<typeof receiptFile>

export const receiptFilesAnswer = pageOf(receiptFile)
