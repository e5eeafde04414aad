{{/*
Shared by several templates.
*/}}

{{/* How every name begins: with the release's name. It is short enough for the longest suffix of a Service's name, which has at most 63 characters. */}}
{{- define "tdset-operator.fullname" -}}
{{- $name := .Release.Name }}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end }}
{{- $name | trunc 28 | trimSuffix "-" }}
{{- end }}

{{/* The labels of every object that has labels in config/. */}}
{{- define "tdset-operator.labels" -}}
app.kubernetes.io/name: tdset-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The labels of the manager's Pods, which selectors use. */}}
{{- define "tdset-operator.podLabels" -}}
control-plane: controller-manager
app.kubernetes.io/name: tdset-operator
{{- end }}

{{/* Not empty if cert-manager makes the webhook's certificate. */}}
{{- define "tdset-operator.certManager" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "certManager") }}true{{ end }}
{{- end }}

{{/* Not empty if this chart makes the webhook's certificate itself. */}}
{{- define "tdset-operator.generates" -}}
{{- if and .Values.webhooks.enable (eq .Values.webhooks.certificates "generated") }}true{{ end }}
{{- end }}

{{/*
The certificate that this chart makes, as the data of its Secret: ca.crt, tls.crt and tls.key. An existing Secret is reused, so an upgrade keeps
the certificate. Otherwise, the first template that needs the certificate makes it, and keeps it in the values for the other templates.
*/}}
{{- define "tdset-operator.certificate" -}}
{{- if not (hasKey .Values.webhooks "certificate") }}
{{- $data := lookup "v1" "Secret" .Release.Namespace "webhook-server-cert" | dig "data" dict }}
{{- if not (hasKey $data "ca.crt") }}
{{- $service := printf "%s-webhook-service.%s.svc" (include "tdset-operator.fullname" .) .Release.Namespace }}
{{- $ca := genCAWithKey "tdset-operator-ca" 3650 (genPrivateKey "ecdsa") }}
{{- $certificate := genSignedCertWithKey $service nil (list $service (printf "%s.cluster.local" $service)) 3650 $ca (genPrivateKey "ecdsa") }}
{{- $data = dict "ca.crt" (b64enc $ca.Cert) "tls.crt" (b64enc $certificate.Cert) "tls.key" (b64enc $certificate.Key) }}
{{- end }}
{{- $_ := set .Values.webhooks "certificate" $data }}
{{- end }}
{{- toYaml .Values.webhooks.certificate }}
{{- end }}

{{/* The subject of every binding: the manager's ServiceAccount. */}}
{{- define "tdset-operator.subjects" -}}
- kind: ServiceAccount
  name: {{ include "tdset-operator.fullname" . }}-controller-manager
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* Who converts TDSets between their versions. */}}
{{- define "tdset-operator.conversion" -}}
strategy: Webhook
webhook:
  clientConfig:
    {{- if include "tdset-operator.generates" . }}
    caBundle: {{ get (include "tdset-operator.certificate" . | fromYaml) "ca.crt" }}
    {{- end }}
    service:
      name: {{ include "tdset-operator.fullname" . }}-webhook-service
      namespace: {{ .Release.Namespace }}
      path: /convert
  conversionReviewVersions:
  - v1
{{- end }}
