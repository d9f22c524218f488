export const UPLOADS_PATH = '/api/v1/uploads'
