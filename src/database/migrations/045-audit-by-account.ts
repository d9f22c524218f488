/** The latest entry of an account, which says whether its sign-in is logged again. */
export const auditByAccount = ['create index audit_log_by_account on audit_log (account_id, act, id)']
