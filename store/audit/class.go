package audit

// Class says what came of a row: of an attempt, a console's row, or both.
type Class string

// The classes, in the order in which they are shown: what differs first.
const (
	OnlyLocal       Class = "only_local"        // here with usage, not on the console
	OnlyConsole     Class = "only_console"      // on the console, never seen by the proxy
	TokensDiffer    Class = "tokens_differ"     // the same request, another count
	CostDiffers     Class = "cost_differs"      // the same tokens, another price
	FailedBilled    Class = "failed_billed"     // failed here, billed there
	AbortedBilled   Class = "aborted_billed"    // the client left, it was billed
	RetryDuplicate  Class = "retry_duplicate"   // an earlier attempt at the same request was billed too
	BucketDiffers   Class = "bucket_differs"    // a sum is another
	Ambiguous       Class = "ambiguous"         // which row is which cannot be told
	GatewayRetry    Class = "gateway_retry"     // one attempt here, several rows of one id there
	UsageMissing    Class = "usage_missing"     // the same request, but the log has no count of it
	FailedNotBilled Class = "failed_not_billed" // failed, and nothing was billed
	BucketExplained Class = "bucket_explained"  // a sum is another by exactly one set of failed attempts
	MatchedNear     Class = "matched_near"      // the same request within the tolerance
	BucketEqual     Class = "bucket_equal"      // the sums are equal
	Matched         Class = "matched"           // the same request, all that is stated equal
	OutOfScope      Class = "out_of_scope"      // not compared, with the reason
)

// Classes lists every class in the order in which they are shown.
var Classes = []Class{
	OnlyLocal, OnlyConsole, TokensDiffer, CostDiffers, FailedBilled, AbortedBilled, RetryDuplicate, BucketDiffers,
	Ambiguous, GatewayRetry, UsageMissing, FailedNotBilled, BucketExplained, MatchedNear, BucketEqual, Matched, OutOfScope,
}

var classWords = map[Class]Words{
	OnlyLocal:       {"Not on the console", "控制台没有"},
	OnlyConsole:     {"Not seen by the proxy", "代理没有见过"},
	TokensDiffer:    {"Tokens differ", "Token 数不一致"},
	CostDiffers:     {"Price differs", "金额不一致"},
	FailedBilled:    {"Failed here but billed", "本地失败却被计费"},
	AbortedBilled:   {"Cancelled by the client, billed", "客户端中断，仍计费"},
	RetryDuplicate:  {"Billed more than once by retries", "重试重复计费"},
	BucketDiffers:   {"Sums differ", "合计不一致"},
	Ambiguous:       {"Cannot tell apart", "无法区分"},
	GatewayRetry:    {"Retried inside the gateway", "网关内部重试"},
	UsageMissing:    {"Proxy had no usage", "本地缺少 usage"},
	FailedNotBilled: {"Failed, not billed", "失败，未计费"},
	BucketExplained: {"Sums differ, explained", "合计不一致，已有解释"},
	MatchedNear:     {"Matched within tolerance", "容差内一致"},
	BucketEqual:     {"Sums equal", "合计一致"},
	Matched:         {"Matched", "一致"},
	OutOfScope:      {"Outside the comparison", "不在比对范围"},
}

// Words is the class in a few words.
func (c Class) Words() Words { return classWords[c] }

// accuses says whether a row of the class is a difference by itself. An
// ambiguous one is where its sums differ.
func (c Class) accuses() bool {
	switch c {
	case OnlyLocal, OnlyConsole, TokensDiffer, CostDiffers, FailedBilled, AbortedBilled, RetryDuplicate, BucketDiffers:
		return true
	}
	return false
}
