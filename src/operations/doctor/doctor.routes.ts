import { diagnosisAnswer } from '../../contract/operations.ts'
import { adminEndpoint } from '../../server/endpoint.ts'
import type { OperationsPart } from '../operations.part.ts'
import { isSound } from './doctor.ts'

export const examineEndpoint = adminEndpoint({
  summary: 'Look whether the set-up is sound, as "holdfast doctor" does; takes some seconds',
  answer: diagnosisAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const diagnosis = await operations.doctor.examine()
    return { success: true, data: { sound: isSound(diagnosis), ...diagnosis } }
  },
})
