{{/* The labels of every object. A release has one Deployment, so its Pods need no others. */}}
{{- define "imageswap.labels" -}}
app.kubernetes.io/name: imageswap
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
