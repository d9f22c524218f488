import { diagnosisAnswer } from '../../contract/operations.ts'
import { adminEndpoint } from '../../server/endpoint.ts'
import type { OperationsPart } from '../operations.part.ts'
import { isSound } from './doctor.ts'

export const examineEndpoint = adminEndpoint({
  summary: 'Check the set-up',
  description: 'As "holdfast doctor" does. Takes some seconds.',
  answer: diagnosisAnswer,
  async handle(_, { operations }: { operations: OperationsPart }) {
    const diagnosis = await operations.doctor.examine()
    return { success: true, data: { sound: isSound(diagnosis), ...diagnosis } }
  },
})
