import { expect, test } from 'bun:test'
import { LISTINGS } from '../../../../src/server/server.ts'
import { newcomer, withHoldfast } from '../../../support/clients/api.ts'
import { eventually } from '../../../support/eventually.ts'
import { openRaw } from '../../../support/network/raw-connection.ts'

const LISTING = '/api/v1/folder/root/files'
const MOST_LISTINGS_OF_ACCOUNT = LISTINGS.each.holders

test('folders listed whole leave nothing behind, read to the end, broken off or asked for by HEAD', () =>
  withHoldfast({}, async (holdfast) => {
    const { apiKey } = await holdfast.addAccount()
    const caller = await newcomer(holdfast)
    for (let round = 0; round < 2 * MOST_LISTINGS_OF_ACCOUNT; round++) {
      expect(await caller.get(LISTING)).toMatchObject({ status: 200, body: { success: true, data: [] } })
      expect(await caller.send(LISTING, { method: 'HEAD' })).toMatchObject({ status: 200 })
      const connection = await openRaw(holdfast.nodeUrl)
      await connection.send(`GET ${LISTING} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`)
      connection.destroy()
    }
    await eventually('those that were broken off are over', async () => {
      const headers = { authorization: `Bearer ${apiKey}` }
      const answers = await Promise.all(
        Array.from({ length: MOST_LISTINGS_OF_ACCOUNT }, () =>
          fetch(holdfast.nodeUrl + LISTING, { headers }),
        ),
      )
      await Promise.all(answers.map((answer) => answer.text()))
      return answers.every(({ status }) => status === 200)
    })
  }))
